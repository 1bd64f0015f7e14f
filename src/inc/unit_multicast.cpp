// Multicast: one packet comes in, one copy goes to every member, and their acknowledgements are gathered into
// one.
#include "inc/reduction_unit.h"

namespace infold::inc {

void ReductionUnit::multicast(const net::Packet& packet, net::LinkId in) {
  const int copies = copies_onward(packet, in);
  const std::uint32_t id = gathers_.take();
  Gather& g = gathers_[id];
  g.key = key_of(packet);
  g.left = static_cast<std::uint32_t>(copies);
  g.packet = packet;
  g.latest = {};
  const bool from_gpu = map_.from(in) < map_.gpus();
  g.back = from_gpu ? towards(map_.from(in), packet.spread()) : net::FabricMap::back(in);
  INFOLD_CHECK(gather_index_.find(g.key) == KeyIndex::kNone, "a block is multicast once at a time");
  gather_index_.add(g.key, id);
  send_onward(packet, in, copies);
}

/// The unit knows of it before it arrives, as of every control packet.
void ReductionUnit::expect(const net::Packet& packet, net::LinkId in) {
  if (packet.kind() == net::PacketKind::kReminder) {
    const std::uint32_t id = reminders_.take({packet, map_.from(in)});
    return events_.schedule(packet.arrives, sim::Priority::kWork, *this, kRemind << kEventShift | id);
  }
  const Key key = key_of(packet);
  const std::uint32_t id = gather_index_.find(key);
  // Results are acknowledged too, like every write, but nothing waits for these acknowledgements.
  if (id == KeyIndex::kNone || gathers_[id].packet.flow() != packet.flow()) return;
  Gather& g = gathers_[id];
  g.latest = sim::max(g.latest, packet.arrives);
  if (--g.left > 0) return;
  const net::Packet ack = net::Packet::unit_ack(g.packet);
  send(ack, g.back, Outgoing::kNone, g.latest);
  gather_index_.remove(key);
  gathers_.give_back(id);
}

/// A finished sum from the root, for every member below.
void ReductionUnit::spread_result(const net::Packet& packet, net::LinkId in) {
  const TreeNode& node = node_of(region_of(packet), packet.spread());
  const std::uint16_t slot = hold(packet, in, static_cast<int>(node.children.size()));
  for (const TreeNode::Child& c : node.children) send(packet, c.out, slot, events_.now());
}

/// Tells a GPU that the switch has taken its contribution.
void ReductionUnit::acknowledge(const net::Packet& packet, net::LinkId in, sim::Time at) {
  send_routed(net::Packet::unit_ack(packet), map_.from(in), Outgoing::kNone, at);
}

}  // namespace infold::inc
