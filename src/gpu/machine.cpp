// Builds a machine from its plan.
#include "gpu/machine.h"

#include <utility>

#include "net/separate_networks.h"

namespace infold::gpu {

Machine::Machine(const MachinePlan& plan, const MachineOptions& options)
    : plan_(plan), options_(options), map_(plan_.blueprint(), plan_.routes()) {
  const MachineSpec& spec = plan_.spec();
  const net::InNetwork in_network = options.in_network ? inc::in_network(spec.inc) : net::InNetwork{};
  const auto make_network = [&] {
    return net::make_packet_fabric(events_, plan_.blueprint(), plan_.routes(), spec.fabric,
                                   options.burst == sim::Bytes{}, in_network);
  };
  if (options.networks <= 1) {
    network_ = make_network();
  } else {
    std::vector<std::unique_ptr<net::Fabric>> networks;
    networks.reserve(static_cast<std::size_t>(options.networks));
    for (int n = 0; n < options.networks; ++n) networks.push_back(make_network());
    network_ = std::make_unique<net::SeparateNetworks>(std::move(networks));
  }
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

}  // namespace infold::gpu
