// Loading, sending and acknowledgement of a workgroup's units.
#include "gpu/mover.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
/// Bytes that buffers take as one burst of packets of `payload`: as many packets as of the network's own,
/// which have as much header each.
sim::Bytes largest_burst(const net::Network& network, sim::Bytes payload) {
  const sim::Bytes own = network.spec().packet.payload;
  const sim::Bytes most = network.max_burst();
  return payload >= own ? most : payload * (most.count() / own.count());
}
}  // namespace

Mover::Mover(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, net::Network& network,
             MoveTable& moves, net::Payloads* payloads)
    : setup_(setup),
      events_(events),
      memory_(memory),
      network_(network),
      moves_(moves),
      payloads_(payloads),
      port_pace_(setup.port),
      port_(setup.shared_port != nullptr ? *setup.shared_port : own_port_),
      adder_pace_(setup.adders > sim::Bandwidth{} ? setup.adders : setup.port) {
  if (setup_.payload == sim::Bytes{}) setup_.payload = network.spec().packet.payload;
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
  available_ = move.encoding.flags_inside && move.received > 0 ? move.available : move.bytes;
  // Whole warp accesses and whole packets, so that a burst is made of the same packets as its parts.
  const std::int64_t access =
      std::max<std::int64_t>(move.encoding.access, move.encoding.data_in(setup_.payload.count()));
  const std::int64_t accesses = sim::min(largest_unit_, even_unit(move.bytes / kGrain)).count() / access;
  const std::int64_t whole = std::max<std::int64_t>(accesses, 1) * access;
  // What the window and the buffers hold comes first, and neither an element nor a line is cut in two.
  const std::int64_t fits =
      move.encoding.data_in(sim::min(setup_.window, largest_burst(network_, setup_.payload)).count());
  const std::int64_t grain = std::max<std::int64_t>(move.encoding.whole, kVectorAccess);
  unit_size_ = sim::Bytes{std::max(std::min(whole, fits) / grain * grain, grain)};
  unit_wire_ = move.encoding.wire(unit_size_);
  look_up_block(move);
  open_cursors(move);
  load_more();
}

/// A unit ends with its block of interleaved addresses (see look_up_block), so a block is cut evenly: a long
/// unit and a short rest would be as much work as two equal ones.
sim::Bytes Mover::even_unit(sim::Bytes unit) const {
  const sim::Bytes block = network_.spec().interleave_block;
  if (unit == sim::Bytes{} || unit >= block) return unit;
  const std::int64_t units = block.count() / unit.count();
  return sim::Bytes{(block.count() + units - 1) / units};
}

void Mover::open_cursors(const Move& move) {
  const auto data = static_cast<std::uint64_t>(move.bytes.count());
  const auto encoded = static_cast<std::uint64_t>(move.encoding.wire(move.bytes).count());
  for (std::size_t i = 0; i < static_cast<std::size_t>(move.loads); ++i) {
    const Place& from = move.sources[i];
    const bool received = i < static_cast<std::size_t>(move.received);
    sources_[i] = {Actor::kCollective, from.buffer, from.offset, received ? encoded : data};
  }
  if (move.stores_here) here_ = {Actor::kCollective, move.here.buffer, move.here.offset, data};
}

/// A unit ends where its block of interleaved addresses ends, so that all of it goes one way. What is stored
/// whole goes the way of its first byte.
void Mover::look_up_block(const Move& move) {
  const auto block = network_.spec().interleave_block.count();
  if (loaded_ > sim::Bytes{} && move.encoding.plain()) {
    to_block_end_ = sim::Bytes{block};  // at the beginning of the next one
    return;
  }
  const auto within = static_cast<std::int64_t>(move.address % static_cast<std::uint64_t>(block)) +
                      move.encoding.wire(loaded_).count();
  const std::int64_t room = move.encoding.data_in(block - within % block);
  to_block_end_ = sim::Bytes{std::max<std::int64_t>(room - room % move.encoding.whole, move.encoding.whole)};
}

void Mover::load_more() {
  const Move& move = moves_[current_].move;
  const sim::Time now = events_.now();
  while (loaded_ < to_load_) {
    const sim::Bytes unit = sim::min(sim::min(unit_size_, to_block_end_), to_load_ - loaded_);
    const sim::Bytes wire = unit == unit_size_ ? unit_wire_ : move.encoding.wire(unit);
    // One unit is always under way, however narrow the window.
    if (in_flight_ > sim::Bytes{} && in_flight_ + wire * stores_ > setup_.window * stores_) return;
    const bool polls = move.encoding.flags_inside && move.received > 0;
    // Data come from memory through the SM's port. A unit can be sent on when its first access is there;
    // the rest comes in faster than it goes out. What is polled for comes when it has landed.
    const int skipped = polls ? move.received : 0;
    const int streams = move.loads - skipped;
    const sim::Bytes loads = unit * streams;
    if (on_the_way_ > sim::Bytes{} && on_the_way_ + loads > setup_.outstanding) return;
    in_flight_ += wire * stores_;
    on_the_way_ += loads;
    sim::Time port = port_.load_free;
    for (int i = skipped; i < move.loads; ++i) {
      const auto n = static_cast<std::uint32_t>(unit.count());
      port = sim::max(port, memory_.read(sources_[static_cast<std::size_t>(i)], n, now));
    }
    const sim::Bytes first = sim::min(unit, sim::Bytes{move.encoding.access}) * streams;
    const sim::Time ready = port + port_pace_.time(first);
    port_.load_free = port + port_pace_.time(loads);
    loading_.push({ready, current_, static_cast<std::uint32_t>(loaded_.count()),
                   static_cast<std::uint32_t>(unit.count()), static_cast<std::uint32_t>(loads.count())});
    loaded_ += unit;
    to_block_end_ -= unit;
    if (to_block_end_ == sim::Bytes{}) look_up_block(move);
    if (!polls && seen_ + 1 == loading_.size()) {
      ++seen_;  // see_landed() would do no more
    } else {
      see_landed();
    }
    if (loading_.size() == 1) await_first();
  }
}

/// Warps poll for what they receive: the units whose data are there have them a poll later.
void Mover::see_landed() {
  for (; seen_ < loading_.size(); ++seen_) {
    Unit& unit = loading_[seen_];
    const Move& move = moves_[unit.move].move;
    if (!move.encoding.flags_inside || move.received == 0) continue;
    const sim::Bytes end{unit.offset + unit.bytes};
    if (end > available_) return;
    const sim::Bytes wire = move.encoding.wire(sim::Bytes{unit.bytes});
    const sim::Bytes loads = wire * move.received;
    sim::Time there = events_.now();
    for (std::size_t i = 0; !move.on_chip && i < static_cast<std::size_t>(move.received); ++i) {
      const auto n = static_cast<std::uint32_t>(wire.count());
      there = sim::max(there, memory_.read_at_l2(sources_[i], n, events_.now()));
    }
    there += setup_.poll * move.encoding.reads;
    if (move.on_chip) {  // what is only passed on does not meet the adders
      if (move.loads > 1)
        there = port_.poll_free = sim::max(port_.poll_free, there) + adder_pace_.time(loads);
      unit.ready = sim::max(unit.ready, there);
      continue;
    }
    // Loads of memory are still on their way: what is polled for passes the port before them.
    port_.poll_free = sim::max(port_.poll_free, there) + port_pace_.time(loads);
    unit.ready = sim::max(unit.ready, port_.poll_free);
  }
}

/// The first unit is stored when it is there; if that is not known yet, available() will ask again.
void Mover::await_first() {
  if (loading_.empty()) return;
  if (seen_ == 0) {
    idle_since_ = events_.now();
    return;
  }
  events_.schedule(sim::max(loading_.front().ready, events_.now()), sim::Priority::kWork, *this, kLoaded);
}

void Mover::available(sim::Bytes data) {
  available_ = data;
  const bool idle = seen_ == 0 && !loading_.empty();
  see_landed();
  if (!idle || seen_ == 0) return;
  polled_ += events_.now() - idle_since_;
  await_first();
}

void Mover::handle(std::uint32_t event) {
  if (event != kLoaded) return finish(event - kComplete);
  const Unit unit = loading_.front();
  loading_.pop();
  on_the_way_ -= sim::Bytes{unit.loads};
  --seen_;
  await_first();
  store(unit);
}

void Mover::store(const Unit& unit) {
  MoveTable::Entry& entry = moves_[unit.move];
  const Move& move = entry.move;
  const bool last = unit.offset + unit.bytes == move.bytes.count();
  if (last) entry.issued = true;
  if (move.stores_here) memory_.write(here_, unit.bytes, events_.now());
  net::ValuesId values = 0;
  if (payloads_ != nullptr) {
    values = payloads_->take(unit.bytes);
    move.client->produce(move.cookie, unit.offset, (*payloads_)[values]);
  }
  if (move.to != Move::kNowhere) {
    send(move, unit, values);
    for (std::size_t i = 0; stores_ > 1 && i < copies_.size(); ++i) {
      const MoveId copy = copies_[i];
      if (last) moves_[copy].issued = true;
      send(moves_[copy].move, {unit.ready, copy, unit.offset, unit.bytes, 0}, values);
    }
  } else {
    in_flight_ -= move.encoding.wire(sim::Bytes{unit.bytes});
  }
  if (payloads_ != nullptr) payloads_->give_back(values);
  if (last) {
    busy_ = false;
    move.client->move_issued(move.cookie);  // may start the next move, which may move the table
    finish_if_done(unit.move);
  } else if (!window_is_full()) {
    load_more();
  }
}

void Mover::send(const Move& move, const Unit& unit, net::ValuesId values) {
  const auto at = static_cast<std::uint32_t>(move.encoding.wire(sim::Bytes{unit.offset}).count());
  const auto wire = static_cast<std::uint32_t>(move.encoding.wire(sim::Bytes{unit.bytes}).count());
  moves_[unit.move].unacknowledged += sim::Bytes{wire};
  const auto payload = static_cast<std::uint32_t>(setup_.payload.count());
  net::Packet packet;
  packet.flow = unit.move;
  packet.source = setup_.gpu;
  packet.destination = static_cast<net::NodeId>(move.to);
  packet.spread = network_.spread_of(move.address + at);
  // Values belong to packets that stay whole, so with values on a train is cut here; so is one of packets
  // that are larger than those into which the links would cut it.
  const auto most = static_cast<std::uint32_t>(largest_burst(network_, setup_.payload).count());
  const bool burst = setup_.burst > sim::Bytes{};
  const bool whole = !burst && (payloads_ != nullptr || setup_.payload != network_.spec().packet.payload);
  const std::uint32_t step = whole ? std::min(payload, most) : std::min(wire, most);
  for (std::uint32_t done = 0; done < wire; done += step) {
    packet.offset = at + done;
    packet.payload = static_cast<std::uint16_t>(std::min(step, wire - done));
    packet.packets = static_cast<std::uint16_t>((packet.payload + payload - 1) / payload);
    if (payloads_ != nullptr) {
      const auto from = std::min<std::int64_t>(move.encoding.data_in(done), unit.bytes);
      const auto to = std::min<std::int64_t>(move.encoding.data_in(done + packet.payload), unit.bytes);
      packet.values = payloads_->take(static_cast<std::uint32_t>(to - from));
      std::ranges::copy(
          (*payloads_)[values].subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
          (*payloads_)[packet.values].begin());
    }
    network_.send(packet, setup_.sender);
  }
}

void Mover::departed(sim::Bytes bytes) {
  in_flight_ -= bytes;
  // Called for every packet, while most often there is nothing left to load or no room for a whole unit.
  if (busy_ && loaded_ < to_load_ &&
      (in_flight_ + unit_wire_ * stores_ <= setup_.window * stores_ || in_flight_ == sim::Bytes{}))
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
  if (entry.unacknowledged > sim::Bytes{} || !entry.issued) return;
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
