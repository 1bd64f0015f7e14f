// The preset that is most like the machine gives what a topology cannot say; links, GPUs and their number
// come from the file.
#include "formats/topology/topology_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "config/catalog.h"
#include "config/yaml/limits.h"
#include "config/yaml/source.h"
#include "config/yaml/text.h"
#include "formats/topology/gpu_names.h"
#include "formats/topology/nccl_topology.h"
#include "formats/topology/topology_shape.h"

namespace infold::formats {

namespace {

using net::Topology;

/// "a100" of "a100-80": one chip with different memories.
std::string_view family_of(std::string_view gpu) {
  return gpu.substr(0, gpu.find('-'));
}

std::vector<int> planes_of_spec(const net::FabricSpec& fabric) {
  std::vector<int> links = fabric.links_per_plane;
  if (links.size() == 1) links.assign(static_cast<std::size_t>(fabric.planes), links.front());
  return links;
}

bool same_links(const net::FabricSpec& fabric, const TopologyShape& shape) {
  if (fabric.topology != shape.topology) return false;
  if (shape.topology != Topology::kSwitchPlanes)
    return fabric.links_per_neighbour == shape.links_per_neighbour;
  std::vector<int> of = planes_of_spec(fabric);
  std::vector<int> wanted = shape.links_per_plane;
  std::ranges::sort(of);
  std::ranges::sort(wanted);
  return of == wanted;
}

struct Base {
  std::string name;
  study::SystemSpec system;
  int likeness = -1;
};

/// The preset that is most like it; the first in the catalogue's order wins a tie.
Base most_like(const std::function<int(const study::SystemSpec&)>& likeness) {
  Base best;
  for (const std::string& name : config::preset_names(config::FileKind::kSystem)) {
    auto loaded = config::load_system(name, config::Validate{});
    if (!loaded || loaded->machine.nodes > 1) continue;  // a file describes one node
    const int now = likeness(*loaded);
    if (now > best.likeness) best = {name, std::move(*loaded), now};
  }
  return best;
}

class SystemMaker {
 public:
  SystemMaker(const formats::Topology& topology, const std::string& file, const std::string& gpu,
              SystemImport& out)
      : topology_(topology), file_(file), asked_(gpu), out_(out), notes_(out.notes) {}

  sim::Status make() {
    if (auto found = choose_gpu(); !found) return found;
    const bool links_said = std::ranges::all_of(topology_.gpus, &TopologyGpu::detailed);
    if (links_said) {
      auto shape = find_shape(topology_, file_, notes_);
      if (!shape) return sim::fail_as(std::move(shape));
      if (auto fits = fit(*shape); !fits) return fits;
    } else if (auto assumed = assume_links(); !assumed) {
      return assumed;
    }
    note_the_rest();
    return {};
  }

 private:
  study::SystemSpec& system() { return out_.system; }
  int gpus() const { return static_cast<int>(topology_.gpus.size()); }

  sim::Status choose_gpu() {
    const TopologyGpu& first = topology_.gpus.front();
    std::string name = asked_;
    if (asked_.empty()) {
      for (const TopologyGpu& gpu : topology_.gpus) {
        if (gpu.device == first.device && gpu.sm == first.sm && gpu.gcn == first.gcn) continue;
        return sim::fail(config::at(
            file_, gpu.at, "this GPU is of another kind than the first; a machine here has one kind"));
      }
      const auto known = find_gpu(first.device, topology_.rccl ? 0 : first.sm, first.gcn);
      if (!known)
        return sim::fail(config::at(
            file_, first.at, known.error().message + "; 'infold import FILE --gpu NAME' takes another's"));
      name = known->preset;
      notes_.assumed.push_back(fmt::format("GPU preset {} ({}{}): its clocks, memories and SMs", name,
                                           known->why, known->certain ? "" : ", which others have, too"));
    } else {
      notes_.assumed.push_back(fmt::format("GPU preset {}, as asked: its clocks, memories and SMs", name));
    }
    auto gpu = config::load_gpu(name);
    if (!gpu) return sim::fail_as(std::move(gpu));
    gpu_ = std::move(*gpu);
    return {};
  }

  void take(Base base, std::string_view what) {
    system() = std::move(base.system);
    notes_.assumed.push_back(fmt::format("{} of preset {}", what, base.name));
    if (system().machine.gpu.name != gpu_.name) system().machine.gpu = gpu_;
    system().machine.gpus = gpus();
  }

  /// Links as the file has them; the rest from a machine of such links, best one of the same GPU.
  sim::Status fit(const TopologyShape& shape) {
    const bool pcie = shape.topology == Topology::kPcieTree;
    Base base = most_like([&](const study::SystemSpec& s) {
      if ((s.machine.fabric.topology == Topology::kPcieTree) != pcie) return -1;
      const bool same_family = family_of(s.machine.gpu.name) == family_of(gpu_.name);
      return (same_family ? 32 : 0) + (s.machine.gpu.name == gpu_.name ? 16 : 0) +
             (s.machine.fabric.topology == shape.topology ? 8 : 0) +
             (!pcie && same_links(s.machine.fabric, shape) ? 4 : 0) + (s.machine.gpus == gpus() ? 2 : 0);
    });
    if (base.likeness < 0)
      return sim::fail(config::at(file_, topology_.at,
                                  "no preset has such links, whose rate and latency the file does not say"));
    // Switches that reduce are those of the same GPU's machine, if it has switches at all.
    net::FabricSpec& known = base.system.machine.fabric;
    if (known.topology != shape.topology || family_of(base.system.machine.gpu.name) != family_of(gpu_.name)) {
      net::FabricSpec fresh;
      fresh.link = known.link;
      fresh.packet = known.packet;
      fresh.switch_chip = known.switch_chip;
      fresh.interleave = known.interleave;
      fresh.interleave_block = known.interleave_block;
      known = fresh;
      base.system.machine.inc.unit = inc::Unit::kNone;
    }
    take(std::move(base), pcie ? "latencies and packets of PCIe, and channels, are those"
                               : "rate, latency and packets of links, switches, and channels are those");
    net::FabricSpec& fabric = system().machine.fabric;
    const bool as_preset = same_links(fabric, shape);
    fabric.topology = shape.topology;
    fabric.failed_planes.clear();
    notes_.fact("topology", std::string(sim::name_of(shape.topology)));
    switch (shape.topology) {
      case Topology::kSwitchPlanes:
        // The order of planes means nothing; that of the preset gives the same simulation as the preset.
        if (!as_preset) {
          fabric.links_per_plane = shape.links_per_plane;
          fabric.planes = static_cast<int>(shape.links_per_plane.size());
        }
        notes_.fact("switches", static_cast<std::int64_t>(shape.links_per_plane.size()));
        notes_.fact("links_per_gpu", std::int64_t{std::accumulate(shape.links_per_plane.begin(),
                                                                  shape.links_per_plane.end(), 0)});
        break;
      case Topology::kPcieTree:
        fabric.groups = shape.groups;
        if (shape.pcie > 0) {
          fabric.link.rate = sim::Bandwidth::bytes_per_s(static_cast<std::int64_t>(shape.pcie));
          notes_.fact("pcie_gbps", fmt::format("{:.4g}", shape.pcie * 1e-9));
        }
        notes_.fact("pcie_switches", std::int64_t{shape.groups});
        break;
      default:
        fabric.links_per_neighbour = shape.topology == Topology::kCubeMesh ? 1 : shape.links_per_neighbour;
        notes_.fact("links_per_neighbour", std::int64_t{shape.links_per_neighbour});
    }
    return {};
  }

  /// A file for a virtual machine lists devices only: NCCL finds the links when it runs. They are those of a
  /// preset of the same GPUs.
  sim::Status assume_links() {
    Base base = most_like([&](const study::SystemSpec& s) {
      if (s.machine.gpus != gpus() || family_of(s.machine.gpu.name) != family_of(gpu_.name)) return -1;
      return s.machine.gpu.name == gpu_.name ? 1 : 0;
    });
    if (base.likeness < 0)
      return sim::fail(config::at(
          file_, topology_.at,
          fmt::format("the file does not say how its GPUs are joined (no <gpu> with links), and there is no "
                      "preset of {} {}",
                      gpus(), gpu_.name)));
    take(std::move(base),
         "the file does not say how its GPUs are joined (NCCL asks the driver): links, switches and channels "
         "are those");
    notes_.fact("topology", std::string(sim::name_of(system().machine.fabric.topology)));
    return {};
  }

  void note_the_rest() {
    study::SystemSpec& s = system();
    notes_.fact("gpus", std::int64_t{gpus()});
    notes_.fact("gpu", s.machine.gpu.name);
    notes_.fact("cpus", std::int64_t{topology_.cpus});
    if (s.machine.fabric.topology != Topology::kPcieTree && topology_.bridges > 0)
      notes_.ignored.push_back(fmt::format("the PCIe tree ({} bridges)", topology_.bridges));
    if (!topology_.nets.empty())
      notes_.ignored.push_back(
          fmt::format("{} network interfaces ({}, ...)", topology_.nets.size(), topology_.nets.front()));
    if (topology_.hosts > 1)
      notes_.assumed.push_back(fmt::format("{} hosts are one machine", topology_.hosts));
    std::set<std::string> unknown(topology_.unknown.begin(), topology_.unknown.end());
    for (const std::string& name : unknown) notes_.ignored.push_back(fmt::format("<{}>", name));
  }

  const formats::Topology& topology_;
  const std::string& file_;
  const std::string& asked_;
  SystemImport& out_;
  Notes& notes_;
  gpu::GpuSpec gpu_;
};

std::string system_name(std::string_view stem) {
  std::string name;
  for (const char c : stem.substr(0, config::kLongestName)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || config::is_digit(c);
    name += letter || c == '.' || c == '_' || c == '-' || c == '+' ? c : '-';
  }
  return name.empty() ? "topology" : name;
}

}  // namespace

sim::Result<SystemImport> make_topology_system(const formats::Topology& topology, std::string_view format,
                                               const std::string& file, const std::string& stem,
                                               const std::string& gpu, Notes notes) {
  SystemImport out;
  out.notes = std::move(notes);
  if (auto made = SystemMaker(topology, file, gpu, out).make(); !made) return sim::fail_as(std::move(made));
  study::SystemSpec& system = out.system;
  system.name = system_name(stem);
  system.summary = fmt::format("{} {}, {}, {}", system.machine.gpus, system.machine.gpu.name,
                               sim::name_of(system.machine.fabric.topology), format);
  system.sources = out.notes.sources(format);
  return out;
}

sim::Result<SystemImport> read_topology_system(std::string_view text, const std::string& file,
                                               const std::string& stem, const std::string& gpu) {
  auto topology = read_topology(text, file);
  if (!topology) return sim::fail_as(std::move(topology));
  return make_topology_system(
      *topology, topology->rccl ? "a topology file of RCCL" : "a topology file of NCCL", file, stem, gpu);
}

}  // namespace infold::formats
