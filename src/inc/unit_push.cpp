// Push: GPUs send contributions unasked; the switch where all have arrived sends the sum to every member.
#include "inc/policy_levels.h"
#include "inc/policy_table_full.h"
#include "inc/reduction_unit.h"

namespace infold::inc {

void ReductionUnit::push(const net::Packet& packet, net::LinkId in) {
  const Region& region = region_of(packet);
  const TreeNode& node = node_of(region, packet.spread());
  if (!sums_pushes(spec_.levels, node)) {
    send(packet, node.parent, hold(packet, in, 1), events_.now());
    if (map_.from(in) < map_.gpus()) acknowledge(packet, in, events_.now());
    return;
  }
  const Key key = key_of(packet);
  const std::uint32_t port = home_port(packet);
  if (const EntryId id = table_.find(key); id != kNoEntry) return take(id, packet, in);
  if (stalled_.find(key) != KeyIndex::kNone) return stall(packet, in, port, true);
  // Contributions that already wait come first, unless they wait for another part of the table.
  const bool first = !stalled_.any(port) || spec_.sharing != Sharing::kShared;
  if (first && (room_for(port, region) || make_room(port, region)))
    return take(open_push(packet, port), packet, in);
  if (on_full(spec_.table_full, false) == OnFull::kPassHome) return pass_home({packet, in});
  stall(packet, in, port, true);
}

EntryId ReductionUnit::open_push(const net::Packet& packet, std::uint32_t port) {
  const Region& region = region_of(packet);
  const EntryId id = table_.add(key_of(packet), port, region);
  Entry& e = table_[id];
  e.node = &node_of(region, packet.spread());
  e.way = packet.spread();
  e.payload = packet.payload();
  e.expected = region.below(region.tree(e.way), *e.node, packet.offset());
  e.push = true;
  return id;
}

/// Sends a contribution to the GPU that will finish the sum.
void ReductionUnit::pass_home(const Held& held) {
  ++ports_[home_port(held.packet)].counters.bypasses;
  net::Packet p = held.packet;
  p.set_kind(net::PacketKind::kPartial);
  send_routed(p, region_of(p).home(p.offset()), hold(held.packet, held.in, 1), events_.now());
  // For a reply, the requester waits for the sum; the sender of the reply waits for nothing.
  if (held.packet.kind() == net::PacketKind::kReduceWrite && map_.from(held.in) < map_.gpus())
    acknowledge(held.packet, held.in, events_.now());
}

/// Sends the partial sum of an entry to its home GPU, which finishes it. Requires: result_room(its port).
void ReductionUnit::evict(EntryId id) {
  Entry& e = table_[id];
  ++ports_[e.port].counters.evictions;
  if (e.count > 0) {
    if (payloads_ != nullptr) e.sum.read(spec_.accumulate, e.region->plan.type, scratch_);
    net::Packet p(net::PacketKind::kPartial);
    p.set_flow(Tag{e.region->id, e.first, e.count}.flow());
    p.set_offset(e.offset());
    p.set_payload(e.payload);
    p.set_packets(e.region->packets(e.payload));
    p.set_spread(e.way);
    send_routed(p, e.region->home(p.offset()), hold_result(e.port, e.payload, 1), e.summed);
  }
  for (const Held& held : e.early) pass_home(held);
  table_.remove(id);
}

/// The home GPU of a block is missing contributions: every switch of the tree sends it what it holds.
void ReductionUnit::remind(const net::Packet& packet, net::NodeId from) {
  if (!regions_.exists(Tag::of(packet.flow()).region)) return;  // the collective has ended meanwhile
  const Region& region = region_of(packet);
  const TreeNode& node = node_of(region, packet.spread());
  const bool from_above = node.child(from) == node.children.size();
  if (node.parent != net::kNoLink && !from_above) send(packet, node.parent, Outgoing::kNone, events_.now());
  for (const TreeNode::Child& c : node.children) {
    if (c.node >= map_.gpus() && c.node != from) send(packet, c.out, Outgoing::kNone, events_.now());
  }
  const Key key = key_of(packet);
  if (const std::uint32_t group = stalled_.find(key); group != KeyIndex::kNone && stalled_[group].push) {
    std::vector<Held> packets;
    stalled_.remove(group, packets);
    for (const Held& held : packets) pass_home(held);
  }
  const EntryId id = table_.find(key);
  if (id != kNoEntry && !table_[id].complete && result_room(table_[id].port)) {
    const std::uint32_t port = table_[id].port;
    evict(id);
    serve_stalled(port);
  }
}

/// Makes sure that an event will check the packets that wait at this port.
void ReductionUnit::watch_patience(std::uint32_t port) {
  if (ports_[port].patience_running) return;
  ports_[port].patience_running = true;
  events_.schedule(events_.now() + spec_.patience, sim::Priority::kWork, *this,
                   kPatience << kEventShift | port);
}

/// A packet that has waited too long, for room or for its turn, goes to its home GPU: what blocks it may
/// itself wait for a packet behind it in its input buffer.
void ReductionUnit::lose_patience(std::uint32_t port) {
  ports_[port].patience_running = false;
  const sim::Time limit = events_.now() - spec_.patience;
  bool others = false;
  for (std::uint32_t id = stalled_.first(port); id != KeyIndex::kNone;) {
    const std::uint32_t after = stalled_[id].after;
    if (stalled_[id].push && stalled_[id].since <= limit) {
      std::vector<Held> packets;
      stalled_.remove(id, packets);
      for (const Held& held : packets) pass_home(held);
    } else {
      others = others || stalled_[id].push;
    }
    id = after;
  }
  for (EntryId id = table_.oldest(port); id != kNoEntry;) {
    const EntryId after = table_.after(id);
    if (!table_[id].early.empty()) {
      if (table_[id].early_since <= limit && result_room(port)) {
        evict(id);
      } else {
        others = true;
      }
    }
    id = after;
  }
  serve_stalled(port);
  if (others) watch_patience(port);
}

}  // namespace infold::inc
