// Passes each question on to the fabric that it concerns, or to all.
#include "net/node_fabrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/check.h"

namespace infold::net {

namespace {
FabricTraits traits_of_all(const std::vector<std::unique_ptr<Fabric>>& nodes) {
  FabricTraits traits = nodes.front()->traits();
  traits.gpus *= static_cast<int>(nodes.size());
  return traits;
}
}  // namespace

NodeFabrics::NodeFabrics(std::vector<std::unique_ptr<Fabric>> nodes, std::unique_ptr<Fabric> scale_out,
                         Setup setup)
    : Fabric(traits_of_all(nodes)),
      nodes_(std::move(nodes)),
      scale_out_(std::move(scale_out)),
      setup_(std::move(setup)) {}

NodeFabrics::~NodeFabrics() = default;

const Fabric& NodeFabrics::of(NodeId gpu) const {
  return *nodes_[index_of(gpu / setup_.node->gpus)];
}

Port& NodeFabrics::attach(NodeId gpu, Endpoint& endpoint) {
  return nodes_[index_of(gpu / setup_.node->gpus)]->attach(gpu % setup_.node->gpus, endpoint);
}

void NodeFabrics::send(const Packet&, std::uint32_t) {
  INFOLD_CHECK(false, "a GPU sends through the fabric of its node");
}

void NodeFabrics::send_ack(const Packet&) {
  INFOLD_CHECK(false, "a GPU answers through the fabric of its node");
}

void NodeFabrics::send_to_unit(Packet, std::uint32_t) {
  INFOLD_CHECK(false, "units of switches are those of one node");
}

SwitchFabric& NodeFabrics::switches() {
  INFOLD_CHECK(false, "units of switches are those of one node");
  return nodes_.front()->switches();
}

bool NodeFabrics::quiet() const {
  return scale_out_->quiet() && std::ranges::all_of(nodes_, [](const auto& n) { return n->quiet(); });
}

void NodeFabrics::start_anew() {
  for (const auto& n : nodes_) n->start_anew();
  scale_out_->start_anew();
}

std::vector<std::string> NodeFabrics::who_waits() const {
  std::vector<std::string> lines;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const std::string& line : nodes_[n]->who_waits())
      lines.push_back(fmt::format("node {}: {}", n, line));
  }
  for (const std::string& line : scale_out_->who_waits()) lines.push_back("between nodes: " + line);
  return lines;
}

LinkCounters NodeFabrics::counters(LinkId link) const {
  const std::size_t links = 2 * setup_.node->cables.size();
  const std::size_t inside = links * nodes_.size();
  if (link < inside) return nodes_[link / links]->counters(static_cast<LinkId>(link % links));
  const auto gpus = static_cast<std::size_t>(traits().gpus);
  const std::size_t behind = link - inside;
  if (behind < 2 * gpus) {
    return {.wire_bytes = setup_.bus(static_cast<NodeId>(behind / 2), behind % 2 == 0),
            .packets = 0,
            .replays = 0,
            .in_flight = {}};
  }
  return scale_out_->counters(static_cast<LinkId>(behind - 2 * gpus));
}

template <class Of>
std::uint64_t NodeFabrics::sum(Of of) const {
  std::uint64_t sum = of(*scale_out_);
  for (const auto& n : nodes_) sum += of(*n);
  return sum;
}

std::uint64_t NodeFabrics::packets_sent() const {
  return sum([](const Fabric& f) { return f.packets_sent(); });
}

std::uint64_t NodeFabrics::packets_delivered() const {
  return sum([](const Fabric& f) { return f.packets_delivered(); });
}

std::uint64_t NodeFabrics::packet_hops() const {
  return sum([](const Fabric& f) { return f.packet_hops(); });
}

std::uint64_t NodeFabrics::payload_sent(NodeId gpu) const {
  return of(gpu).payload_sent(gpu % setup_.node->gpus) + scale_out_->payload_sent(gpu);
}

std::uint64_t NodeFabrics::payload_received(NodeId gpu) const {
  return of(gpu).payload_received(gpu % setup_.node->gpus) + scale_out_->payload_received(gpu);
}

}  // namespace infold::net
