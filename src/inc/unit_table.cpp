// Entries of the table: finding room for them, adding to them, and what happens when one is complete.
#include <algorithm>

#include "inc/policy_levels.h"
#include "inc/policy_sharing.h"
#include "inc/policy_table_full.h"
#include "inc/reduction_unit.h"

namespace infold::inc {

bool ReductionUnit::room_for(std::uint32_t port, const Region& region) const {
  return table_.room(port, region, quota(capacity_, regions_.partitions()));
}

std::uint64_t ReductionUnit::entries_in_use() const {
  std::uint64_t sum = 0;
  for (std::size_t port = 0; port < ports_.size(); ++port)
    sum += table_.used(static_cast<std::uint32_t>(port));
  return sum;
}

bool ReductionUnit::result_room(std::uint32_t port) const {
  const sim::Bytes used = ports_[port].results;
  return used == sim::Bytes{} || used + spec_.payload <= spec_.result_buffer;
}

void ReductionUnit::stall(const net::Packet& packet, net::LinkId in, std::uint32_t port, bool push) {
  ++ports_[port].counters.stalls;
  const int job = region_of(packet).plan.job;
  const int holder = table_.used(port) > 0 ? table_.holder(port) : job;
  const auto known = std::ranges::find_if(stalls_by_job_,
                                          [&](const Stall& s) { return s.job == job && s.holder == holder; });
  ++(known == stalls_by_job_.end() ? stalls_by_job_.emplace_back(Stall{job, holder}) : *known).times;
  stalled_.add(key_of(packet), port, push, {packet, in}, events_.now());
  if (push) watch_patience(port);
}

/// Sends the oldest partial sum to its home GPU if the policy says so and it is possible. Returns whether
/// there is room now.
bool ReductionUnit::make_room(std::uint32_t port, const Region& region) {
  // Room is short in the whole table, or in the part of this region.
  const bool part = table_.used(port) + region.weight() <= capacity_;
  const EntryId victim = table_.oldest_partial(port, part, region.partition);
  const bool can_evict = victim != kNoEntry && result_room(port);
  if (on_full(spec_.table_full, can_evict) != OnFull::kMakeRoom) return false;
  evict(victim);
  return room_for(port, region);
}

/// Processes the packets that wait for room, first come, first served; parts of a table do not wait for each
/// other.
void ReductionUnit::serve_stalled(std::uint32_t port) {
  std::uint32_t id = stalled_.first(port);
  while (id != KeyIndex::kNone) {
    const Stalled::Group& group = stalled_[id];
    const std::uint32_t after = group.after;
    const bool push = group.push;
    const net::Packet first = group.packets.front().packet;
    const Region& region = region_of(first);
    if (!room_for(port, region) && !(push && make_room(port, region))) {
      if (spec_.sharing == Sharing::kShared) return;
      id = after;
      continue;
    }
    const std::uint32_t list = lists_.take();
    std::vector<Held>& packets = lists_[list];
    const net::LinkId in = group.packets.front().in;
    stalled_.remove(id, packets);
    if (push) {
      const EntryId entry = open_push(first, port);
      for (const Held& held : packets) take(entry, held.packet, held.in);
    } else {
      open_pull(first, in, port);
      ask_members(first, in);
    }
    packets.clear();
    lists_.give_back(list);
    id = after;
  }
}

void ReductionUnit::take(EntryId id, const net::Packet& packet, net::LinkId in) {
  Entry& e = table_[id];
  if (spec_.order == SumOrder::kRank && !has_turn(spec_.order, Tag::of(packet.flow()).first, e.turn())) {
    if (e.early.empty()) e.early_since = events_.now();
    e.early.push_back({packet, in});
    return watch_patience(e.port);
  }
  add(id, packet, in);
  for (bool more = !e.early.empty(); more;) {
    const auto next = std::find_if(e.early.begin(), e.early.end(), [&](const Held& h) {
      return has_turn(spec_.order, Tag::of(h.packet.flow()).first, e.turn());
    });
    more = next != e.early.end();
    if (more) {
      const Held held = *next;
      e.early.erase(next);
      add(id, held.packet, held.in);
    }
  }
  if (e.count < e.expected) return;
  INFOLD_CHECK(e.count == e.expected, "no contribution is added twice");
  e.complete = true;
  events_.schedule(e.summed, sim::Priority::kWork, *this, kComplete << kEventShift | id);
}

/// Contributions pass the ALUs of the port one after the other, and those of the switch if these have a limit
/// of their own.
void ReductionUnit::add(EntryId id, const net::Packet& packet, net::LinkId in) {
  Entry& e = table_[id];
  Port& port = ports_[e.port];
  const sim::Bytes bytes{packet.payload()};
  const sim::Time start = sim::max(events_.now(), port.alu_free);
  sim::Time end = start + alu_pace_.time(bytes);
  if (spec_.switch_alu_rate > sim::Bandwidth{}) {
    switch_alu_free_ = sim::max(switch_alu_free_, start) + switch_alu_pace_.time(bytes);
    end = sim::max(end, switch_alu_free_);
  }
  port.alu_free = end;
  ++port.counters.contributions;
  e.summed = end;

  const Tag tag = Tag::of(packet.flow());
  e.first = e.count == 0 ? tag.first : std::min(e.first, tag.first);
  e.count = static_cast<std::uint16_t>(e.count + tag.count);
  e.came[tag.first / 64U] |= std::uint64_t{1} << (tag.first % 64U);
  if (payloads_ != nullptr) {
    e.sum.add(spec_.accumulate, e.region->plan.type, e.region->plan.op, (*payloads_)[packet.values()]);
    payloads_->give_back(packet.values());
  }
  fabric_.release(packet, in, end);
  if (packet.kind() == net::PacketKind::kReduceWrite && map_.from(in) < map_.gpus())
    acknowledge(packet, in, end);
}

void ReductionUnit::complete(EntryId id) {
  const std::uint32_t port = table_[id].port;
  ++ports_[port].counters.results;
  if (!ports_[port].complete.empty() || !result_room(port)) {
    ports_[port].complete.push(id);
    return;
  }
  emit(id);
  serve_stalled(port);
}

/// A complete sum leaves the table for the result buffer, and goes from there to its next receivers.
void ReductionUnit::emit(EntryId id) {
  const Entry& e = table_[id];
  const Region& region = *e.region;
  const TreeNode& node = *e.node;
  if (payloads_ != nullptr) e.sum.read(spec_.accumulate, region.plan.type, scratch_);
  net::Packet p;
  p.set_flow(Tag{region.id, e.first, e.count}.flow());
  p.set_offset(e.offset());
  p.set_payload(e.payload);
  p.set_packets(region.packets(e.payload));
  p.set_spread(e.way);
  const net::NodeId home = region.home(e.offset());
  const sim::Time ready = e.summed;
  if (e.push && node.parent != net::kNoLink) {
    p.set_kind(net::PacketKind::kReduceWrite);
    send(p, node.parent, hold_result(e.port, e.payload, 1), ready);
  } else if (e.push && region.plan.result_to == ResultTo::kAll) {
    p.set_kind(net::PacketKind::kResult);
    const std::uint16_t slot = hold_result(e.port, e.payload, static_cast<int>(node.children.size()));
    for (const TreeNode::Child& c : node.children) send(p, c.out, slot, ready);
  } else if (e.push) {
    p.set_kind(net::PacketKind::kResult);
    send_routed(p, home, hold_result(e.port, e.payload, 1), ready);
  } else {
    const net::LinkId out = towards(home, e.way);
    p.set_kind(map_.to(out) == home ? net::PacketKind::kResult : net::PacketKind::kReply);
    send(p, out, hold_result(e.port, e.payload, 1), ready);
  }
  table_.remove(id);
}

}  // namespace infold::inc
