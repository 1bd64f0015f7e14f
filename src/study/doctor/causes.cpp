// Each function makes one cause, or a cause without degrees where the machine cannot have it.
#include "study/doctor/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace infold::study {

namespace {

/// The library chooses otherwise than it should.
constexpr std::string_view kChoices = "choices";

bool reduces_in_switches(const SystemSpec& system) {
  return system.machine.inc.unit == inc::Unit::kNvls;
}

LossCause nvls_off(const SystemSpec& system) {
  LossCause cause{
      .id = "nvls-off",
      .about = "the switches do not reduce (NVLS is off)",
      .check =
          "NCCL_DEBUG=INFO says 'NVLS multicast support is available' when it is on; NCCL_NVLS_ENABLE; "
          "nvidia-smi -q (Fabric State: Completed), the fabric manager's log",
      .kin = kChoices,
      .variants = {}};
  if (reduces_in_switches(system)) cause.variants.push_back({.label = "without nvls", .never = "nvls"});
  return cause;
}

LossCause fewer_channels(const SystemSpec& system) {
  LossCause cause{.id = "fewer-channels",
                  .about = "the library runs fewer channels than it should",
                  .check =
                      "NCCL_DEBUG=INFO: 'N coll channels, N nvls channels'; NCCL_MAX_NCHANNELS, "
                      "NCCL_MAX_CTAS, NCCL_CGA_CLUSTER_SIZE and the limits of a communicator's configuration",
                  .kin = "",
                  .variants = {}};
  constexpr std::array kCounts = {1, 2, 4, 8, 16};
  for (const int count : kCounts) {
    if (count * 4 > system.coll.channels * 3) continue;
    SystemSpec machine = system;
    machine.coll.channels = count;
    machine.coll.nvls.channels = std::min(count, system.coll.nvls.channels);
    machine.coll.p2p.channels = std::min(count, system.coll.p2p.channels);
    cause.variants.push_back({.label = count == 1 ? "1 channel" : fmt::format("{} channels", count),
                              .machine = std::move(machine)});
  }
  return cause;
}

LossCause other_algorithm(const SystemSpec& system) {
  LossCause cause{.id = "algorithm",
                  .about = "the library is made to run one algorithm alone",
                  .check =
                      "NCCL_ALGO, the environment file (nccl.conf) and tuner plug-ins; NCCL_DEBUG=INFO with "
                      "NCCL_DEBUG_SUBSYS=TUNING says which algorithm was chosen",
                  .kin = kChoices,
                  .variants = {}};
  for (const std::string_view name : {"ring", "tree", "nvls"}) {
    if (name == "nvls" && !reduces_in_switches(system)) continue;
    cause.variants.push_back({.label = fmt::format("only {}", name), .only = name});
  }
  return cause;
}

LossCause other_protocol() {
  LossCause cause{.id = "protocol",
                  .about = "the library is made to run one protocol alone",
                  .check =
                      "NCCL_PROTO, the environment file (nccl.conf) and tuner plug-ins; NCCL_DEBUG=INFO with "
                      "NCCL_DEBUG_SUBSYS=TUNING says which protocol was chosen",
                  .kin = kChoices,
                  .variants = {}};
  for (const auto& protocol : coll::kProtocolNames)
    cause.variants.push_back({.label = fmt::format("only {}", protocol.name), .protocol = protocol.value});
  return cause;
}

/// The links of each plane, one number per plane.
std::vector<int> links_of(const net::FabricSpec& fabric) {
  if (fabric.links_per_plane.size() > 1) return fabric.links_per_plane;
  return std::vector<int>(static_cast<std::size_t>(fabric.planes), fabric.links_per_plane.front());
}

/// Calls `make(plane)` for one plane of each number of links.
template <class Make>
void for_distinct_planes(const net::FabricSpec& fabric, const Make& make) {
  const std::vector<int> links = links_of(fabric);
  for (std::size_t plane = 0; plane < links.size(); ++plane) {
    if (std::find(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(plane), links[plane]) ==
        links.begin() + static_cast<std::ptrdiff_t>(plane))
      make(static_cast<int>(plane), links);
  }
}

LossCause plane_missing(const SystemSpec& system) {
  LossCause cause{.id = "plane-missing",
                  .about = "a switch, and with it a plane of links, carries nothing",
                  .check =
                      "nvidia-smi nvlink -s on every GPU (inactive links), the fabric manager's log (SXid), "
                      "nvidia-smi topo -m (fewer NVLinks than NV18)",
                  .kin = "",
                  .variants = {}};
  const net::FabricSpec& fabric = system.machine.fabric;
  if (fabric.topology != net::Topology::kSwitchPlanes || fabric.planes < 2 || !fabric.failed_planes.empty())
    return cause;
  for_distinct_planes(fabric, [&](int plane, const std::vector<int>& links) {
    SystemSpec machine = system;
    machine.machine.fabric.failed_planes = {plane};
    cause.variants.push_back(
        {.label = fmt::format("a plane of {} links", links[static_cast<std::size_t>(plane)]),
         .machine = std::move(machine)});
  });
  return cause;
}

/// Addresses pick the same links for all, so a link that one GPU lacks is used by none.
LossCause link_missing(const SystemSpec& system) {
  LossCause cause{
      .id = "link-missing",
      .about = "one link of a GPU carries nothing, so no GPU uses its link to that switch",
      .check = "nvidia-smi nvlink -s and nvlink -e (errors, replays) on every GPU; rocm-smi --showxgmierr",
      .kin = "",
      .variants = {}};
  const net::FabricSpec& fabric = system.machine.fabric;
  if (fabric.topology == net::Topology::kSwitchPlanes) {
    for_distinct_planes(fabric, [&](int plane, const std::vector<int>& links) {
      const auto at = static_cast<std::size_t>(plane);
      if (links[at] < 2) return;  // that is a plane
      SystemSpec machine = system;
      machine.machine.fabric.links_per_plane = links;
      --machine.machine.fabric.links_per_plane[at];
      cause.variants.push_back(
          {.label = fmt::format("one link of {} to a switch", links[at]), .machine = std::move(machine)});
    });
  } else if (fabric.topology != net::Topology::kPcieTree && fabric.links_per_neighbour > 1) {
    SystemSpec machine = system;
    --machine.machine.fabric.links_per_neighbour;
    cause.variants.push_back(
        {.label = fmt::format("one link of {} to a neighbour", fabric.links_per_neighbour),
         .machine = std::move(machine)});
  }
  return cause;
}

LossCause narrow_pcie(const SystemSpec& system) {
  LossCause cause{.id = "pcie-rate",
                  .about = "PCIe links have half their width, or are of a lower generation",
                  .check =
                      "lspci -vv (LnkSta against LnkCap: 'downgraded'), nvidia-smi "
                      "--query-gpu=pcie.link.gen.current,pcie.link.width.current",
                  .kin = "",
                  .variants = {}};
  if (system.machine.fabric.topology != net::Topology::kPcieTree) return cause;
  for (const int part : {2, 4}) {
    SystemSpec machine = system;
    net::LinkSpec& link = machine.machine.fabric.link;
    link.rate = sim::Bandwidth::bytes_per_s(link.rate.count_bytes_per_s() / part);
    cause.variants.push_back(
        {.label = part == 2 ? "x8 for x16, or one generation lower" : "x4 for x16, or two generations lower",
         .machine = std::move(machine)});
  }
  return cause;
}

struct PcieGeneration {
  std::string_view name;
  std::int64_t bytes_per_s;
};
/// PCI Express base specifications 3.0, 4.0 and 5.0: 16 lanes of 8, 16 and 32 GT/s with 128b/130b coding.
constexpr std::array kPcieGenerations = {PcieGeneration{"PCIe 3.0 x16", 15'750'000'000},
                                         PcieGeneration{"PCIe 4.0 x16", 31'500'000'000},
                                         PcieGeneration{"PCIe 5.0 x16", 63'000'000'000}};

/// Without peer-to-peer access data go up to the host's memory and down again. Each GPU then has one link to
/// the host, which is the root of a tree.
LossCause p2p_off(const SystemSpec& system) {
  LossCause cause{.id = "p2p-off",
                  .about = "GPUs do not reach each other directly; data go through the host",
                  .check =
                      "NCCL_DEBUG=INFO: 'via SHM' where 'via P2P' is expected; NCCL_P2P_DISABLE, "
                      "NCCL_P2P_LEVEL, ACS and IOMMU settings; nvidia-smi topo -p2p rw",
                  .kin = "",
                  .variants = {}};
  const bool tree = system.machine.fabric.topology == net::Topology::kPcieTree;
  if (tree && system.machine.fabric.groups == system.machine.gpus) return cause;
  for (const PcieGeneration& pcie : kPcieGenerations) {
    SystemSpec machine = system;
    net::FabricSpec& fabric = machine.machine.fabric;
    if (!tree) {
      fabric = {};
      fabric.topology = net::Topology::kPcieTree;
      fabric.link.rate = sim::Bandwidth::bytes_per_s(pcie.bytes_per_s);
      fabric.packet = {.payload = sim::Bytes{128}, .header = sim::Bytes{24}, .ack = sim::Bytes{8}};
    }
    fabric.groups = machine.machine.gpus;
    machine.machine.inc = {};
    machine.machine.inc.unit = inc::Unit::kNone;
    cause.variants.push_back(
        {.label = tree ? "through the host" : fmt::format("through the host by {}", pcie.name),
         .machine = std::move(machine)});
    if (tree) break;
  }
  return cause;
}

LossCause slow_rank(const SystemSpec& system) {
  LossCause cause{.id = "slow-rank",
                  .about = "one rank is slow: it comes late to every collective, or its GPU is clocked down",
                  .check =
                      "nvidia-smi -q -d PERFORMANCE,CLOCK (clocks event reasons), the CPUs that ranks are "
                      "bound to, other processes on the GPU; times of each rank, not of rank 0 alone",
                  .kin = "",
                  .variants = {}};
  for (const int us : {30, 100, 300, 1000})
    cause.variants.push_back({.label = fmt::format("{} us late", us), .late = sim::Time::us(us)});
  SystemSpec machine = system;
  gpu::GpuSpec& gpu = machine.machine.gpu;
  gpu.clock = sim::Frequency::hz(gpu.clock.count_hz() / 2);
  gpu.l2.latency = gpu.l2.latency * 2;
  cause.variants.push_back({.label = "half the clock", .machine = std::move(machine)});
  return cause;
}

}  // namespace

std::vector<LossCause> causes_of(const SystemSpec& system) {
  std::vector<LossCause> causes = {nvls_off(system),       other_algorithm(system), other_protocol(),
                                   fewer_channels(system), plane_missing(system),   link_missing(system),
                                   narrow_pcie(system),    p2p_off(system),         slow_rank(system)};
  std::erase_if(causes, [](const LossCause& cause) { return cause.variants.empty(); });
  return causes;
}

}  // namespace infold::study
