// Copies on their way out: each keeps the packet or sum it was made of until the last copy has left.
#include <cstring>

#include "inc/reduction_unit.h"

namespace infold::inc {

/// Keeps the packet in its input buffer until that many copies have left.
std::uint16_t ReductionUnit::hold(const net::Packet& packet, net::LinkId in, int copies) {
  return outgoing_.take({.held = {packet, in}, .copies = copies, .end = {}});
}

std::uint16_t ReductionUnit::hold_result(std::uint32_t port, std::uint16_t payload, int copies) {
  ports_[port].results += sim::Bytes{payload};
  Sending sum;
  sum.port = port;
  sum.room = payload;
  sum.copies = copies;
  return outgoing_.take(sum);
}

/// Sends a copy with its own values: those of the packet it was made of, or the sum in scratch_.
void ReductionUnit::send(net::Packet packet, net::LinkId out, std::uint16_t slot, sim::Time ready) {
  packet.set_ticket(slot);
  packet.set_destination(map_.to(out));
  packet.arrives = sim::max(ready, events_.now()) + spec_.latency;
  if (payloads_ != nullptr && packet.payload() > 0) copy_values(packet, slot);
  fabric_.unit_send(packet, out);
}

void ReductionUnit::send_routed(net::Packet packet, net::NodeId gpu, std::uint16_t slot, sim::Time ready) {
  packet.set_ticket(slot);
  packet.set_destination(gpu);
  packet.arrives = sim::max(ready, events_.now()) + spec_.latency;
  if (payloads_ != nullptr && packet.payload() > 0) copy_values(packet, slot);
  fabric_.unit_send_routed(packet, chip_);
}

/// A packet for all that take part goes on to every node of the tree that is joined to this one and leads to
/// one of them, except a switch that sent it. A GPU that sent it may take part itself.
bool ReductionUnit::goes_up(const net::Packet& packet, const TreeNode& node, net::LinkId in) const {
  const bool from_above = node.child(map_.from(in)) == node.children.size();
  if (node.parent == net::kNoLink || from_above) return false;
  const Region& region = region_of(packet);
  return region.everybody() ||
         region.below(region.tree(packet.spread()), node, packet.offset()) < region.contributors();
}

bool ReductionUnit::goes_down(const net::Packet& packet, const TreeNode::Child& child, net::LinkId in) const {
  const Region& region = region_of(packet);
  return (child.node < map_.gpus() || child.node != map_.from(in)) &&
         (region.everybody() || region.below(region.tree(packet.spread()), child, packet.offset()) > 0);
}

int ReductionUnit::copies_onward(const net::Packet& packet, net::LinkId in) const {
  const TreeNode& node = node_of(region_of(packet), packet.spread());
  int copies = goes_up(packet, node, in) ? 1 : 0;
  for (const TreeNode::Child& c : node.children) copies += goes_down(packet, c, in) ? 1 : 0;
  return copies;
}

void ReductionUnit::send_onward(const net::Packet& packet, net::LinkId in, int copies) {
  const TreeNode& node = node_of(region_of(packet), packet.spread());
  const std::uint16_t slot = hold(packet, in, copies);
  if (goes_up(packet, node, in)) send(packet, node.parent, slot, events_.now());
  for (const TreeNode::Child& c : node.children) {
    if (goes_down(packet, c, in)) send(packet, c.out, slot, events_.now());
  }
}

void ReductionUnit::copy_values(net::Packet& packet, std::uint16_t slot) {
  const Sending& s = outgoing_[slot];
  const bool sum = s.held.in == net::kNoLink;
  const std::size_t size = sum ? scratch_.size() : (*payloads_)[s.held.packet.values()].size();
  packet.set_values(payloads_->take(size));  // this may move existing values
  const std::byte* from = sum ? scratch_.data() : (*payloads_)[s.held.packet.values()].data();
  std::memcpy((*payloads_)[packet.values()].data(), from, size);
}

void ReductionUnit::departed(const net::Packet& packet, sim::Time end) {
  const std::uint16_t slot = packet.ticket();
  if (slot == Outgoing::kNone) return;  // an acknowledgement
  Sending& s = outgoing_[slot];
  s.end = sim::max(s.end, end);
  if (--s.copies > 0) return;
  if (s.held.in == net::kNoLink) {
    events_.schedule(s.end, sim::Priority::kWork, *this, kLeft << kEventShift | slot);
    return;
  }
  if (payloads_ != nullptr && s.held.packet.payload() > 0) payloads_->give_back(s.held.packet.values());
  fabric_.release(s.held.packet, s.held.in, s.end);
  outgoing_.give_back(slot);
}

/// A sum has left, so there is room in the result buffer.
void ReductionUnit::left(std::uint16_t slot) {
  const std::uint32_t number = outgoing_[slot].port;
  Port& port = ports_[number];
  port.results -= sim::Bytes{outgoing_[slot].room};
  outgoing_.give_back(slot);
  while (!port.complete.empty() && result_room(number)) {
    const EntryId id = port.complete.front();
    port.complete.pop();
    emit(id);
  }
  serve_stalled(number);
}

}  // namespace infold::inc
