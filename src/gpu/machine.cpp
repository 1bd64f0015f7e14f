// Builds a machine from its plan.
#include "gpu/machine.h"

#include <utility>

#include "net/node_fabrics.h"
#include "net/separate_networks.h"

namespace infold::gpu {

namespace {

/// The networks of one node: one, or as many as are asked for, which meet nowhere.
std::unique_ptr<net::Fabric> node_fabric(sim::EventQueue& events, const MachinePlan& plan,
                                         const MachineOptions& options) {
  const MachineSpec& spec = plan.spec();
  const net::InNetwork in_network = options.in_network ? inc::in_network(spec.inc) : net::InNetwork{};
  const auto make_network = [&] {
    return net::make_packet_fabric(events, plan.node(), plan.routes(), spec.fabric,
                                   options.burst == sim::Bytes{}, in_network);
  };
  if (options.networks <= 1) return make_network();
  std::vector<std::unique_ptr<net::Fabric>> networks;
  networks.reserve(static_cast<std::size_t>(options.networks));
  for (int n = 0; n < options.networks; ++n) networks.push_back(make_network());
  return std::make_unique<net::SeparateNetworks>(std::move(networks));
}

/// Each flow between nodes keeps its way: addresses of a flow lie in a block of their own (gpu/nic/nic.cpp).
net::FabricSpec flow_by_flow() {
  net::FabricSpec spec;
  spec.interleave_block = sim::Bytes::gib(1);
  return spec;
}

}  // namespace

Machine::Machine(const MachinePlan& plan, const MachineOptions& options)
    : plan_(plan), options_(options), map_(plan_.blueprint(), plan_.routes()) {
  const MachineSpec& spec = plan_.spec();
  if (const MachinePlan::ScaleOut* out = plan_.scale_out()) {
    std::vector<std::unique_ptr<net::Fabric>> nodes;
    std::vector<net::Fabric*> fabrics;
    nodes.reserve(static_cast<std::size_t>(spec.nodes));
    fabrics.reserve(static_cast<std::size_t>(spec.nodes));
    for (int n = 0; n < spec.nodes; ++n)
      fabrics.push_back(nodes.emplace_back(node_fabric(events_, plan_, options_)).get());
    auto scale_out = net::make_packet_fabric(events_, out->blueprint, out->routes, flow_by_flow(),
                                             options_.burst == sim::Bytes{});
    net::Fabric& between = *scale_out;
    const auto bus = [this](net::NodeId gpu, bool leaves) {
      const Nic& nic = *nics_[net::index_of(gpu)];
      return leaves ? nic.read_bytes() : nic.written_bytes();
    };
    network_ = std::make_unique<net::NodeFabrics>(
        std::move(nodes), std::move(scale_out),
        net::NodeFabrics::Setup{
            .node = &plan_.node(), .scale_out = &out->blueprint, .nodes = spec.nodes, .bus = bus});
    build_nodes(fabrics, between);
    return;
  }
  network_ = node_fabric(events_, plan_, options_);
  if (options.in_network) {
    units_ = std::make_unique<inc::SwitchUnits>(spec.inc, events_, map_, *network_,
                                                options.functional ? &payloads_ : nullptr);
  }
  for (int i = 0; i < spec.gpus; ++i) {
    gpus_.push_back(std::make_unique<Gpu>(static_cast<net::NodeId>(i), spec.gpu, events_, *network_, moves_,
                                          signals_, options.functional ? &payloads_ : nullptr, options.core,
                                          units_.get()));
  }
}

void Machine::build_nodes(const std::vector<net::Fabric*>& fabrics, net::Fabric& scale_out) {
  const MachineSpec& spec = plan_.spec();
  for (int i = 0; i < spec.all_gpus(); ++i) {
    const int node = i / spec.gpus;
    const auto id = static_cast<net::NodeId>(i);
    gpus_.push_back(std::make_unique<Gpu>(id, spec.gpu, events_, *fabrics[static_cast<std::size_t>(node)],
                                          moves_, signals_, options_.functional ? &payloads_ : nullptr,
                                          options_.core, nullptr,
                                          static_cast<net::NodeId>(node * spec.gpus)));
    nics_.push_back(std::make_unique<Nic>(Nic::Setup{.gpu = id, .spec = &spec.nic, .burst = options_.burst},
                                          events_, gpus_.back()->core().memory(), scale_out, moves_,
                                          messages_, signals_));
    proxies_.emplace_back(spec.host);
  }
}

}  // namespace infold::gpu
