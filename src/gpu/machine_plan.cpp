// Draws a machine, and refuses one that cannot be built.
#include "gpu/machine_plan.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "gpu/copy/move.h"
#include "inc/switch_units.h"
#include "inc/tree_deadlock.h"
#include "net/fabric.h"
#include "net/topology/scale_out.h"

namespace infold::gpu {

namespace {
constexpr std::int64_t kQueueBytes = 64;  // a link's queue of one input on one channel

/// The memory that the queues of links will take: an output has a queue for every input of its chip.
std::int64_t queue_bytes(const net::Blueprint& blueprint, int layers) {
  std::vector<std::int64_t> degree(static_cast<std::size_t>(blueprint.nodes()));
  for (const net::Cable& c : blueprint.cables) {
    ++degree[static_cast<std::size_t>(c.a)];
    ++degree[static_cast<std::size_t>(c.b)];
  }
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < degree.size(); ++n) {
    const std::int64_t senders = blueprint.is_gpu(static_cast<net::NodeId>(n)) ? net::Fabric::kOwnInputs : 0;
    sum += degree[n] * (degree[n] + senders) * net::kPlainClasses * layers * kQueueBytes;
  }
  return sum;
}

sim::Status check_queues(std::int64_t need, const char* to_blame) {
  if (need <= MachinePlan::kMemoryLimit) return {};
  return sim::fail(fmt::format("the switch queues of this machine would need {:.1f} GiB of the "
                               "simulator's memory, more than the limit of {} GiB",
                               static_cast<double>(need) / (1 << 30), MachinePlan::kMemoryLimit >> 30),
                   to_blame);
}

/// Neither packets nor interleaving may cut what a thread stores at once.
sim::Status check_accesses(const net::FabricSpec& fabric, const net::Blueprint& blueprint) {
  const auto even = [](const char* path, sim::Bytes bytes) -> sim::Status {
    if (bytes.count() % kVectorAccess == 0) return {};
    return sim::fail(fmt::format("{} bytes are not a multiple of the {} that a thread stores at once",
                                 bytes.count(), kVectorAccess),
                     path);
  };
  if (auto ok = even("fabric.packet.payload", net::packet_payload(blueprint)); !ok) return ok;
  return even("fabric.interleave_block", fabric.interleave_block);
}

sim::Status check_in_network(const MachineSpec& spec, const net::Blueprint& blueprint,
                             const net::Routes& routes, const sim::GoOn& go_on) {
  if (spec.nodes > 1)
    return sim::fail("switches sum within one node only; reductions over nodes are not simulated yet",
                     "nodes");
  for (const net::Cable& c : blueprint.cables) {
    if (!blueprint.is_gpu(c.a) || !blueprint.is_gpu(c.b)) continue;
    return sim::fail(fmt::format("{} joins GPUs without a switch between them that could reduce",
                                 sim::name_of(spec.fabric.topology)),
                     "fabric.topology");
  }
  if (auto ok = inc::check(spec.inc, spec.fabric, blueprint); !ok) return ok;
  return inc::prove_trees(blueprint, routes, go_on);
}
}  // namespace

sim::Result<MachinePlan> MachinePlan::make(const MachineSpec& spec, const sim::GoOn& go_on) {
  auto blueprint = net::draw(spec.fabric, spec.gpus);
  if (!blueprint) return sim::fail(blueprint.error());
  if (auto ok = check_accesses(spec.fabric, *blueprint); !ok) return sim::fail(ok.error());
  if (auto ok = net::check_links(*blueprint); !ok) return sim::fail(ok.error());
  // Routing such a machine would take minutes, and it has one layer or more.
  if (auto ok = check_queues(queue_bytes(*blueprint, 1), "gpus"); !ok) return sim::fail(ok.error());
  auto routes = net::Routes::make(*blueprint, go_on);
  if (!routes) return sim::fail(routes.error());
  if (routes->layers() > net::kMostLayers) {
    return sim::fail(fmt::format("routing needs {} layers of virtual channels, more than {}",
                                 routes->layers(), net::kMostLayers),
                     "fabric.topology");
  }
  if (auto ok = check_queues(queue_bytes(*blueprint, routes->layers()), "gpus"); !ok)
    return sim::fail(ok.error());
  if (auto ok = net::prove_no_deadlock(*blueprint, *routes, go_on); !ok) return sim::fail(ok.error());
  sim::Status in_network = check_in_network(spec, *blueprint, *routes, go_on);
  if (!in_network && in_network.error().kind == sim::Error::Kind::kInterrupted)
    return sim::fail_as(std::move(in_network));
  std::optional<ScaleOut> scale_out;
  if (spec.nodes > 1) {
    auto drawn = draw_scale_out(spec, *blueprint, go_on);
    if (!drawn) return sim::fail_as(std::move(drawn));
    scale_out = *std::move(drawn);
  }
  return MachinePlan(std::make_shared<const Contents>(Contents{
      spec, *std::move(blueprint), *std::move(routes), std::move(in_network), std::move(scale_out)}));
}

sim::Result<MachinePlan::ScaleOut> MachinePlan::draw_scale_out(const MachineSpec& spec,
                                                               const net::Blueprint& node,
                                                               const sim::GoOn& go_on) {
  if (std::int64_t{spec.nodes} * spec.gpus > net::kMostGpus) {
    return sim::fail(
        fmt::format("{} nodes of {} GPUs are more than {} GPUs", spec.nodes, spec.gpus, net::kMostGpus),
        "nodes");
  }
  const NicSpec& nic = spec.nic;
  const net::PacketSpec packet{.payload = nic.mtu, .header = nic.header, .ack = nic.ack};
  auto blueprint = net::draw_scale_out(spec.scale_out, {nic.rate, packet}, spec.nodes, spec.gpus);
  if (!blueprint) return sim::fail(blueprint.error());
  if (nic.mtu + nic.header > spec.scale_out.switch_chip.buffer) {
    return sim::fail(fmt::format("a packet of {} bytes does not fit a buffer of {}",
                                 (nic.mtu + nic.header).count(), spec.scale_out.switch_chip.buffer.count()),
                     "scale_out.switch.buffer");
  }
  if (nic.mtu.count() % kVectorAccess != 0) {
    return sim::fail(fmt::format("{} bytes are not a multiple of the {} that a thread stores at once",
                                 nic.mtu.count(), kVectorAccess),
                     "nic.mtu");
  }
  const std::int64_t queues = spec.nodes * queue_bytes(node, net::kMostLayers) + queue_bytes(*blueprint, 1);
  if (auto ok = check_queues(queues, "nodes"); !ok) return sim::fail(ok.error());
  auto routes = net::Routes::make(*blueprint, go_on);
  if (!routes) return sim::fail_as(std::move(routes));
  if (auto ok = net::prove_no_deadlock(*blueprint, *routes, go_on); !ok) return sim::fail_as(std::move(ok));
  const net::LinkType bus{
      .kind = net::LinkKind::kPcie,
      .rate = nic.pcie_rate,
      .latency = nic.pcie_latency,
      .error_distance = {},
      .packet = {.payload = node.link_types.front().packet.payload, .header = {}, .ack = {}}};
  auto machine = net::whole_machine(node, spec.nodes, bus, *blueprint);
  if (!machine) return sim::fail(machine.error());
  return ScaleOut{*std::move(blueprint), *std::move(routes), *std::move(machine)};
}

int MachinePlan::links_between(int from, int to) const {
  const net::Blueprint& machine = blueprint();
  if (machine.node_of(from) != machine.node_of(to))
    return scale_out()->routes.hop(static_cast<net::NodeId>(from), static_cast<net::NodeId>(to)).links;
  const int gpus = contents_->node.gpus;
  return routes().hop(static_cast<net::NodeId>(from % gpus), static_cast<net::NodeId>(to % gpus)).links;
}

}  // namespace infold::gpu
