// Loading, sending and acknowledgement of a workgroup's units.
#include "gpu/copy/copy_pipeline.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
/// The largest burst of packets of `payload` that buffers take. It has as many packets as a burst of the
/// network's own packets, because each has as much header.
sim::Bytes largest_burst(const net::FabricTraits& fabric, sim::Bytes payload) {
  const sim::Bytes own = fabric.packet_payload;
  const sim::Bytes most = fabric.max_burst;
  return payload >= own ? most : payload * (most.count() / own.count());
}
}  // namespace

CopyPipeline::CopyPipeline(const Setup& setup, sim::EventQueue& events, MemorySystem& memory,
                           net::Fabric& fabric, MoveTable& moves, net::Payloads* payloads)
    : events_(events),
      moves_(moves),
      memory_(memory),
      port_(setup.shared_port != nullptr ? *setup.shared_port : own_port_),
      fabric_(fabric),
      payloads_(payloads),
      outstanding_(setup.outstanding),
      latency_(setup.latency),
      sender_(setup.sender),
      gpu_(setup.gpu),
      first_(setup.first),
      setup_(setup),
      port_pace_(setup.port),
      adder_pace_(setup.adders > sim::Bandwidth{} ? setup.adders : setup.port),
      interleave_block_(fabric.traits().interleaving.block()),
      largest_unit_(sim::min(setup.burst, setup.window / 8)) {  // so that the pipeline keeps its grain
  const sim::Bytes own = fabric.traits().packet_payload;
  if (setup_.payload == sim::Bytes{}) setup_.payload = own;
  payload_ = static_cast<std::uint32_t>(setup_.payload.count());
  // Values belong to packets that stay whole, so in functional mode a train of packets is cut here. The same
  // holds for packets that are larger than those into which the links would cut a train.
  const bool whole = setup.burst == sim::Bytes{} && (payloads != nullptr || setup_.payload != own);
  largest_send_ = static_cast<std::uint32_t>(largest_burst(fabric.traits(), setup_.payload).count());
  if (whole) largest_send_ = std::min(largest_send_, payload_);
}

void CopyPipeline::start(const Move& move, std::span<const Move> copies) {
  INFOLD_DCHECK(!busy_, "a workgroup issues one move after the other");
  INFOLD_DCHECK(move.bytes > sim::Bytes{}, "a move has bytes");
  INFOLD_DCHECK(loading_.empty(), "units are of one move");
  busy_ = true;
  target_ = target_of(moves_.add(move, *this));
  stores_here_ = move.stores_here;
  sent_ = sim::Bytes{};
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
  // What the window and the buffers hold takes precedence, and neither an element nor a line is cut in two.
  const std::int64_t fits =
      move.encoding.data_in(sim::min(setup_.window, largest_burst(fabric_.traits(), setup_.payload)).count());
  const std::int64_t grain = std::max<std::int64_t>(move.encoding.whole, kVectorAccess);
  const sim::Bytes unit{std::max(std::min(whole, fits) / grain * grain, grain)};
  window_ = setup_.window * stores_;
  polled_for_ = move.encoding.flags_inside ? move.received : 0;
  loads_ = move.loads;
  unit_ = shape_of(unit);
  look_up_block();
  open_cursors(move);
  load_more();
}

/// A unit ends with its block of interleaved addresses (see look_up_block), so a block is cut evenly: a long
/// unit and a short rest would be as much work as two equal ones.
sim::Bytes CopyPipeline::even_unit(sim::Bytes unit) const {
  const sim::Bytes block = interleave_block_;
  if (unit == sim::Bytes{} || unit >= block) return unit;
  const std::int64_t units = block.count() / unit.count();
  return sim::Bytes{(block.count() + units - 1) / units};
}

void CopyPipeline::open_cursors(const Move& move) {
  const auto data = static_cast<std::uint64_t>(move.bytes.count());
  const auto encoded = static_cast<std::uint64_t>(move.encoding.wire(move.bytes).count());
  for (std::size_t i = 0; i < static_cast<std::size_t>(move.loads); ++i) {
    const Place& from = move.sources[i];
    const bool received = i < static_cast<std::size_t>(move.received);
    sources_[i] = {Actor::kCollective, from.buffer, from.offset, received ? encoded : data};
  }
  if (move.stores_here) here_ = {Actor::kCollective, move.here.buffer, move.here.offset, data};
}

/// A unit ends where its block of interleaved addresses ends, so that all of it takes the same link. A unit
/// that is stored whole takes the link of its first byte.
void CopyPipeline::look_up_block() {
  const std::int64_t block = interleave_block_.count();
  if (loaded_ > sim::Bytes{} && target_.encoding.plain()) {
    to_block_end_ = interleave_block_;  // at the beginning of the next one
    return;
  }
  const auto within = static_cast<std::int64_t>(target_.address % static_cast<std::uint64_t>(block)) +
                      target_.encoding.wire(loaded_).count();
  const std::int64_t room = target_.encoding.data_in(block - within % block);
  to_block_end_ =
      sim::Bytes{std::max<std::int64_t>(room - room % target_.encoding.whole, target_.encoding.whole)};
}

/// Data come from memory through the SM's port; data that are polled for come when they have landed.
CopyPipeline::Shape CopyPipeline::shape_of(sim::Bytes data) const {
  const int streams = loads_ - polled_for_;
  const sim::Bytes access = sim::min(data, sim::Bytes{target_.encoding.access});
  return {data, target_.encoding.wire(data) * stores_, data * streams, port_pace_.time(access * streams),
          port_pace_.time(data * streams)};
}

void CopyPipeline::load_more() {
  const sim::Time now = events_.now();
  while (loaded_ < to_load_) {
    const sim::Bytes data = sim::min(sim::min(unit_.data, to_block_end_), to_load_ - loaded_);
    const Shape unit = data == unit_.data ? unit_ : shape_of(data);
    // One unit is always under way, however narrow the window.
    if (in_flight_ > sim::Bytes{} && in_flight_ + unit.stores > window_) return;
    if (on_the_way_ > sim::Bytes{} && on_the_way_ + unit.loads > outstanding_) return;
    in_flight_ += unit.stores;
    on_the_way_ += unit.loads;
    sim::Time port = port_.load_free;
    const auto n = static_cast<std::uint32_t>(data.count());
    for (int i = polled_for_; i < loads_; ++i)
      port = sim::max(port, memory_.read(sources_[static_cast<std::size_t>(i)], n, now));
    // A unit can be sent on when its first access is there, because the rest comes in faster than it goes
    // out.
    loading_.push({port + unit.first_access + latency_, static_cast<std::uint32_t>(loaded_.count()), n});
    port_.load_free = port + unit.all_loads;
    loaded_ += data;
    to_block_end_ -= data;
    if (to_block_end_ == sim::Bytes{}) look_up_block();
    if (polled_for_ == 0 && seen_ + 1 == loading_.size()) {
      ++seen_;  // see_landed() would do no more
    } else {
      see_landed();
    }
    if (loading_.size() == 1) await_first();
  }
}

/// Warps poll for what they receive: they have the data of a unit one poll after these have landed.
void CopyPipeline::see_landed() {
  if (polled_for_ == 0) seen_ = loading_.size();  // loads come by themselves
  for (; seen_ < loading_.size(); ++seen_) {
    Unit& unit = loading_[seen_];
    const Move& move = moves_[target_.move].move;
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

/// The first unit is stored when it is there; if that time is not known yet, available() calls this again.
void CopyPipeline::await_first() {
  if (loading_.empty()) return;
  if (seen_ == 0) {
    idle_since_ = events_.now();
    return;
  }
  events_.schedule(sim::max(loading_.front().ready, events_.now()), sim::Priority::kWork, *this, kLoaded);
}

void CopyPipeline::available(sim::Bytes data) {
  available_ = data;
  const bool idle = seen_ == 0 && !loading_.empty();
  see_landed();
  if (!idle || seen_ == 0) return;
  polled_ += events_.now() - idle_since_;
  await_first();
}

void CopyPipeline::handle(std::uint32_t event) {
  if (event != kLoaded) return finish(event - kComplete);
  const Unit unit = loading_.front();
  loading_.pop();
  on_the_way_ -= sim::Bytes{unit.bytes} * (loads_ - polled_for_);
  --seen_;
  await_first();
  store(unit);
}

void CopyPipeline::store(const Unit& unit) {
  const bool last = sim::Bytes{unit.offset + std::int64_t{unit.bytes}} == to_load_;
  if (stores_here_) memory_.write(here_, unit.bytes, events_.now());
  net::ValuesId values = 0;
  if (payloads_ != nullptr) {
    const Move& move = moves_[target_.move].move;
    values = payloads_->take(unit.bytes);
    move.client->produce(move.cookie, unit.offset, (*payloads_)[values]);
  }
  if (target_.to != Move::kNowhere) {
    sent_ += send(target_, unit, values);
    for (std::size_t i = 0; stores_ > 1 && i < copies_.size(); ++i) {
      MoveTable::Entry& copy = moves_[copies_[i]];
      const Target to = target_of(copies_[i]);
      copy.unacknowledged += send(to, unit, values);
      if (!last) continue;
      copy.issued = true;
      // What goes to another GPU is acknowledged later, and ends then.
      if (to.to == gpu_)
        events_.schedule(sim::max(copy.visible, events_.now()), sim::Priority::kWork, *this,
                         kComplete + copies_[i]);
    }
  } else {
    in_flight_ -= target_.encoding.wire(sim::Bytes{unit.bytes});
  }
  if (payloads_ != nullptr) payloads_->give_back(values);
  if (last) {
    issued();
  } else if (!window_is_full()) {
    load_more();
  }
}

/// The table is told what was sent when all of it was, so that the move is looked up once and not once per
/// unit.
void CopyPipeline::issued() {
  const MoveId id = target_.move;
  MoveTable::Entry& entry = moves_[id];
  entry.unacknowledged += sent_;
  INFOLD_DCHECK(entry.unacknowledged >= sim::Bytes{}, "no more is acknowledged than was sent");
  entry.issued = true;
  busy_ = false;
  entry.move.client->move_issued(entry.move.cookie);  // may start the next move, which may move the table
  if (moves_[id].settled()) settled(id);
}

CopyPipeline::Target CopyPipeline::target_of(MoveId id) const {
  const Move& move = moves_[id].move;
  return {id, move.to, move.address, move.encoding};
}

/// Stores to this GPU's own memory, as to another's, but what is stored is visible when memory has taken it.
sim::Bytes CopyPipeline::keep(const Target& target, const Unit& unit, net::ValuesId values) {
  const sim::Bytes wire = target.encoding.wire(sim::Bytes{unit.bytes});
  MoveTable::Entry& entry = moves_[target.move];
  const auto n = static_cast<std::uint32_t>(wire.count());
  const sim::Time taken = memory_.write(entry.arriving, n, events_.now());
  if (payloads_ != nullptr) entry.move.client->consume(entry.move.cookie, unit.offset, (*payloads_)[values]);
  in_flight_ -= wire;
  entry.acknowledge(wire, taken);
  return wire;
}

/// Returns the bytes that were sent.
sim::Bytes CopyPipeline::send(const Target& target, const Unit& unit, net::ValuesId values) {
  if (target.to == gpu_) return keep(target, unit, values);
  const auto at = static_cast<std::uint32_t>(target.encoding.wire(sim::Bytes{unit.offset}).count());
  const auto wire = static_cast<std::uint32_t>(target.encoding.wire(sim::Bytes{unit.bytes}).count());
  net::Packet packet(net::PacketKind::kWrite);
  packet.arrives = events_.now();
  packet.set_flow(target.move);
  packet.set_source(gpu_ - first_);
  packet.set_destination(static_cast<net::NodeId>(target.to) - first_);
  packet.set_spread(fabric_.traits().interleaving.spread_of(target.address + at));
  for (std::uint32_t done = 0; done < wire; done += largest_send_) {
    packet.set_offset(at + done);
    packet.set_payload(static_cast<std::uint16_t>(std::min(largest_send_, wire - done)));
    packet.set_packets(1);
    if (packet.payload() > payload_)
      packet.set_packets(static_cast<std::uint16_t>((packet.payload() + payload_ - 1) / payload_));
    if (payloads_ != nullptr) {
      const auto from = std::min<std::int64_t>(target.encoding.data_in(done), unit.bytes);
      const auto to = std::min<std::int64_t>(target.encoding.data_in(done + packet.payload()), unit.bytes);
      packet.set_values(payloads_->take(static_cast<std::uint32_t>(to - from)));
      std::ranges::copy(
          (*payloads_)[values].subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
          (*payloads_)[packet.values()].begin());
    }
    fabric_.send(packet, sender_);
  }
  return sim::Bytes{wire};
}

void CopyPipeline::departed(sim::Bytes bytes) {
  in_flight_ -= bytes;
  // This is called for every packet, although most often there is nothing left to load or no room for a whole
  // unit.
  if (loaded_ < to_load_ && (in_flight_ + unit_.stores <= window_ || in_flight_ == sim::Bytes{})) load_more();
}

/// Acknowledgements are known before they arrive, so the end of a move is an event.
void CopyPipeline::settled(MoveId id) {
  const sim::Time visible = moves_[id].visible;
  if (visible > events_.now()) {
    events_.schedule(visible, sim::Priority::kWork, *this, kComplete + id);
  } else {
    finish(id);
  }
}

void CopyPipeline::finish(MoveId id) {
  const Move move = moves_[id].move;
  moves_.remove(id);
  move.client->move_complete(move.cookie);
}

}  // namespace infold::gpu
