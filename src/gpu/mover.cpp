// Loading, sending and acknowledgement of a workgroup's units.
#include "gpu/mover.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

Mover::Mover(const Setup& setup, sim::EventQueue& events, Memory& memory, net::Network& network,
             MoveTable& moves, net::Payloads* payloads)
    : setup_(setup),
      events_(events),
      memory_(memory),
      network_(network),
      moves_(moves),
      payloads_(payloads),
      port_pace_(setup.port) {
  largest_unit_ = sim::min(setup.burst, setup.window / 8);  // so that the pipeline keeps its grain
}

void Mover::start(const Move& move, std::span<const Move> copies) {
  INFOLD_DCHECK(!busy_, "a workgroup issues one move after the other");
  INFOLD_DCHECK(move.bytes > sim::Bytes{}, "a move has bytes");
  busy_ = true;
  current_ = moves_.add(move, *this);
  copies_.clear();
  for (const Move& copy : copies) copies_.push_back(moves_.add(copy, *this));
  stores_ = 1 + static_cast<std::int64_t>(copies.size());
  loaded_ = sim::Bytes{};
  to_load_ = move.bytes;
  loads_per_byte_ = move.loads;
  const std::int64_t block = network_.spec().interleave_block.count();
  to_block_end_ =
      sim::Bytes{block - static_cast<std::int64_t>(move.address % static_cast<std::uint64_t>(block))};
  // Whole warp accesses and whole packets, so that a burst is made of the same packets as its parts.
  const std::int64_t access = std::max(kWarpAccess, network_.spec().packet.payload.count());
  const std::int64_t accesses = sim::min(largest_unit_, move.bytes / kGrain).count() / access;
  const sim::Bytes whole{std::max<std::int64_t>(accesses, 1) * access};
  // What the window and the buffers hold comes first, and no element is cut in two.
  const sim::Bytes most = sim::min(sim::min(whole, setup_.window), network_.max_burst());
  unit_size_ = sim::max(most / kVectorAccess * kVectorAccess, sim::Bytes{kVectorAccess});
  load_more();
}

void Mover::load_more() {
  const sim::Time now = events_.now();
  while (loaded_ < to_load_) {
    // A unit ends where its block of interleaved addresses ends, so that all of it goes one way.
    const sim::Bytes unit = sim::min(sim::min(unit_size_, to_block_end_), to_load_ - loaded_);
    if (in_flight_ + unit * stores_ > setup_.window * stores_) return;
    in_flight_ += unit * stores_;
    const sim::Bytes loads = unit * loads_per_byte_;
    // Data come from memory through the SM's port. A unit can be sent on when its first access is there;
    // the rest comes in faster than it goes out.
    const sim::Time port = sim::max(load_port_free_, memory_.read(loads, now));
    const sim::Bytes first = sim::min(unit, sim::Bytes{kWarpAccess}) * loads_per_byte_;
    const sim::Time ready = port + port_pace_.time(first);
    load_port_free_ = port + port_pace_.time(loads);
    if (loading_.empty()) events_.schedule(ready, sim::Priority::kWork, *this, kLoaded);
    loading_.push({ready, current_, static_cast<std::uint32_t>(loaded_.count()),
                   static_cast<std::uint32_t>(unit.count())});
    loaded_ += unit;
    to_block_end_ -= unit;
    if (to_block_end_ == sim::Bytes{}) to_block_end_ = network_.spec().interleave_block;
  }
}

void Mover::handle(std::uint32_t event) {
  if (event != kLoaded) return finish(event - kComplete);
  const Unit unit = loading_.front();
  loading_.pop();
  if (!loading_.empty()) events_.schedule(loading_.front().ready, sim::Priority::kWork, *this, kLoaded);
  store(unit);
}

void Mover::store(const Unit& unit) {
  MoveTable::Entry& entry = moves_[unit.move];
  const Move& move = entry.move;
  const sim::Bytes bytes{unit.bytes};
  const bool last = unit.offset + unit.bytes == move.bytes.count();
  entry.issued = last;
  if (move.stores_here) memory_.write(bytes, events_.now());
  net::ValuesId values = 0;
  if (payloads_ != nullptr) {
    values = payloads_->take(unit.bytes);
    move.client->produce(move.cookie, unit.offset, (*payloads_)[values]);
  }
  if (move.to != Move::kNowhere) {
    send(move, unit, values);
    for (MoveId copy : copies_) {
      moves_[copy].issued = last;
      send(moves_[copy].move, {unit.ready, copy, unit.offset, unit.bytes}, values);
    }
  } else {
    in_flight_ -= bytes;
  }
  if (payloads_ != nullptr) payloads_->give_back(values);
  if (last) {
    busy_ = false;
    move.client->move_issued(move.cookie);  // may start the next move, which may move the table
    finish_if_done(unit.move);
  } else {
    load_more();
  }
}

void Mover::send(const Move& move, const Unit& unit, net::ValuesId values) {
  moves_[unit.move].unacknowledged += sim::Bytes{unit.bytes};
  const auto payload = static_cast<std::uint32_t>(network_.spec().packet.payload.count());
  const bool burst = setup_.burst > sim::Bytes{};
  net::Packet packet;
  packet.flow = unit.move;
  packet.source = setup_.gpu;
  packet.destination = static_cast<net::NodeId>(move.to);
  packet.spread = network_.spread_of(move.address + unit.offset);
  // Values belong to packets that stay whole, so with values on a train is cut here.
  const std::uint32_t step = payloads_ != nullptr && !burst ? payload : unit.bytes;
  for (std::uint32_t done = 0; done < unit.bytes; done += step) {
    packet.offset = unit.offset + done;
    packet.payload = static_cast<std::uint16_t>(std::min(step, unit.bytes - done));
    packet.packets = static_cast<std::uint16_t>((packet.payload + payload - 1) / payload);
    if (payloads_ != nullptr) {
      packet.values = payloads_->take(packet.payload);
      std::ranges::copy((*payloads_)[values].subspan(done, packet.payload),
                        (*payloads_)[packet.values].begin());
    }
    network_.send(packet, setup_.sender);
  }
}

void Mover::departed(sim::Bytes bytes) {
  in_flight_ -= bytes;
  // Called for every packet, while most often there is nothing left to load or no room for a whole unit.
  if (busy_ && loaded_ < to_load_ && in_flight_ + unit_size_ * stores_ <= setup_.window * stores_)
    load_more();
}

void Mover::acknowledged(MoveId id, sim::Bytes bytes, sim::Time at) {
  MoveTable::Entry& entry = moves_[id];
  INFOLD_DCHECK(entry.unacknowledged >= bytes, "no byte is acknowledged twice");
  entry.unacknowledged -= bytes;
  entry.visible = sim::max(entry.visible, at);
  finish_if_done(id);
}

/// Acknowledgements are known of before they are here, so the end of a move is an event.
void Mover::finish_if_done(MoveId id) {
  const MoveTable::Entry& entry = moves_[id];
  if (!entry.issued || entry.unacknowledged > sim::Bytes{}) return;
  if (entry.visible > events_.now()) {
    events_.schedule(entry.visible, sim::Priority::kWork, *this, kComplete + id);
  } else {
    finish(id);
  }
}

void Mover::finish(MoveId id) {
  const Move move = moves_[id].move;
  moves_.remove(id);
  move.client->move_complete(move.cookie);
}

}  // namespace infold::gpu
