// Pull: a GPU asks for the sum of a block. The switches ask every member on its behalf and sum the replies on
// their way back. The first switch of the requester must have an entry; others sum if they have room.
#include "inc/policy_levels.h"
#include "inc/reduction_unit.h"

namespace infold::inc {

void ReductionUnit::request(const net::Packet& packet, net::LinkId in) {
  const Region& region = region_of(packet);
  const net::NodeId home = region.home(packet.offset());
  const std::uint32_t port = port_of(towards(home, packet.spread()));
  const bool first_switch = map_.from(in) < map_.gpus();
  const bool room = !stalled_.any(port) && room_for(port, region);
  if (first_switch) {
    INFOLD_CHECK(map_.from(in) == home, "a block's sum is asked for by its home GPU");
    INFOLD_CHECK(table_.find(key_of(packet)) == kNoEntry, "a block's sum is asked for once at a time");
    if (!room) return stall(packet, in, port, false);
    open_pull(packet, in, port);
  } else {
    const FurtherIn sums = sums_replies_further_in(spec_.levels, spec_.order);
    if (sums == FurtherIn::kAlways && !room) return stall(packet, in, port, false);
    if (sums != FurtherIn::kNever && room) open_pull(packet, in, port);
  }
  ask_members(packet, in);
}

EntryId ReductionUnit::open_pull(const net::Packet& packet, net::LinkId in, std::uint32_t port) {
  const Region& region = region_of(packet);
  const TreeNode& node = node_of(region, packet.spread());
  const EntryId id = table_.add(key_of(packet), port, region);
  Entry& e = table_[id];
  e.node = &node;
  e.way = packet.spread();
  e.push = false;
  const std::size_t child = node.child(map_.from(in));
  if (map_.from(in) < map_.gpus()) {
    e.expected = region.contributors();
    e.from_above = region.lowest_elsewhere(region.tree(e.way), node, packet.offset());
  } else if (child < node.children.size()) {
    e.skip = node.children[child].first;
    e.expected = static_cast<std::uint16_t>(
        region.contributors() - region.below(region.tree(e.way), node.children[child], packet.offset()));
  } else {
    e.expected = region.below(region.tree(e.way), node, packet.offset());
  }
  return id;
}

/// Passes a request on to every node except the one that sent it, but also to the requesting GPU, which has a
/// contribution of its own.
void ReductionUnit::ask_members(const net::Packet& packet, net::LinkId in) {
  send_onward(packet, in, copies_onward(packet, in));
}

void ReductionUnit::reply(const net::Packet& packet, net::LinkId in) {
  if (const EntryId id = table_.find(key_of(packet)); id != kNoEntry) {
    table_[id].payload = packet.payload();
    return take(id, packet, in);
  }
  const net::LinkId out = towards(region_of(packet).home(packet.offset()), packet.spread());
  if (map_.to(out) < map_.gpus()) return pass_home({packet, in});  // its entry was evicted before
  send(packet, out, hold(packet, in, 1), events_.now());
}

}  // namespace infold::inc
