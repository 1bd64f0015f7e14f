// Building a machine, and refusing one that can not be built.
#include "gpu/machine.h"

#include <fmt/format.h>

#include "inc/tree_deadlock.h"
#include "sim/check.h"

namespace infold::gpu {

namespace {
constexpr std::int64_t kQueueBytes = 64;  // a link's queue of one input on one channel

/// What the links' queues will take: an output has a queue for every input of its chip.
std::int64_t queue_bytes(const net::Blueprint& blueprint, int layers) {
  std::vector<std::int64_t> degree(static_cast<std::size_t>(blueprint.nodes()));
  for (const net::Cable& c : blueprint.cables) {
    ++degree[c.a];
    ++degree[c.b];
  }
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < degree.size(); ++n) {
    const std::int64_t senders = blueprint.is_gpu(static_cast<net::NodeId>(n)) ? net::Network::kOwnInputs : 0;
    sum += degree[n] * (degree[n] + senders) * net::kPlainClasses * layers * kQueueBytes;
  }
  return sum;
}

/// Packets must fit the buffers they pass, and neither they nor interleaving may cut an element in two.
std::optional<sim::Refusal> refuse_packets(const net::FabricSpec& fabric) {
  const auto uneven = [](const char* path, sim::Bytes bytes) {
    return sim::Refusal{
        path, fmt::format("{} bytes are not a multiple of the {} that a thread stores at once", bytes.count(),
                          kVectorAccess)};
  };
  const sim::Bytes payload = fabric.packet.payload;
  if (payload.count() % kVectorAccess != 0) return uneven("fabric.packet.payload", payload);
  if (fabric.interleave_block.count() % kVectorAccess != 0) {
    return uneven("fabric.interleave_block", fabric.interleave_block);
  }
  if (const sim::Bytes most = net::WireCost(fabric.packet).largest_packet();
      most > fabric.switch_chip.buffer) {
    return sim::Refusal{"fabric.switch.buffer",
                        fmt::format("a packet of {} bytes does not fit a buffer of {}", most.count(),
                                    fabric.switch_chip.buffer.count())};
  }
  return std::nullopt;
}
}  // namespace

std::optional<sim::Refusal> Machine::check(const MachineSpec& spec) {
  auto drawn = net::draw(spec.fabric, spec.gpus);
  if (auto* refusal = std::get_if<sim::Refusal>(&drawn)) return *refusal;
  if (auto refusal = refuse_packets(spec.fabric)) return refusal;
  const auto& blueprint = std::get<net::Blueprint>(drawn);
  const net::Routes routes(blueprint);
  if (routes.layers() > net::kMostLayers) {
    return sim::Refusal{"fabric.topology",
                        fmt::format("routing needs {} layers of virtual channels, more than {}",
                                    routes.layers(), net::kMostLayers)};
  }
  const std::int64_t need = queue_bytes(blueprint, routes.layers());
  if (need > kMemoryLimit) {
    return sim::Refusal{"gpus", fmt::format("the switch queues of this machine would need {:.1f} GiB of the "
                                            "simulator's memory, more than the limit of {} GiB",
                                            static_cast<double>(need) / (1 << 30), kMemoryLimit >> 30)};
  }
  if (auto cycle = net::find_deadlock(blueprint, routes)) {
    return sim::Refusal{"fabric.topology", "routing can deadlock: " + *cycle};
  }
  return std::nullopt;
}

std::optional<sim::Refusal> Machine::check_in_network(const MachineSpec& spec) {
  const auto blueprint = std::get<net::Blueprint>(net::draw(spec.fabric, spec.gpus));
  for (const net::Cable& c : blueprint.cables) {
    if (!blueprint.is_gpu(c.a) || !blueprint.is_gpu(c.b)) continue;
    return sim::Refusal{"fabric.topology",
                        fmt::format("{} joins GPUs without a switch between them that could reduce",
                                    sim::name_of(spec.fabric.topology))};
  }
  return inc::check(spec.inc, spec.fabric);
}

Machine::Machine(const MachineSpec& spec, const MachineOptions& options)
    : spec_(spec),
      options_(options),
      blueprint_(std::get<net::Blueprint>(net::draw(spec.fabric, spec.gpus))) {
  const net::InNetwork in_network = options.in_network ? inc::in_network(spec_.inc) : net::InNetwork{};
  network_ = std::make_unique<net::Network>(events_, blueprint_, spec_.fabric, options.burst == sim::Bytes{},
                                            in_network);
  if (options.in_network) {
    units_ = std::make_unique<inc::SwitchUnits>(spec_.inc, events_, *network_,
                                                options.functional ? &payloads_ : nullptr);
    if (const auto circle = inc::find_deadlock(*network_, units_->regions()))
      INFOLD_CHECK(false, fmt::format("no circle of waits among trees of switches: {}", *circle).c_str());
  }
  for (int i = 0; i < spec.gpus; ++i) {
    gpus_.push_back(std::make_unique<Gpu>(static_cast<net::NodeId>(i), spec_.gpu, events_, *network_, moves_,
                                          signals_, options.functional ? &payloads_ : nullptr, options.core,
                                          units_.get()));
  }
}

}  // namespace infold::gpu
