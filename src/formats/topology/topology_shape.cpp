// Links to switches make planes; links between GPUs make a matrix, which is compared with each shape; without
// any, PCIe is left.
#include "formats/topology/topology_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/yaml/text.h"
#include "net/topology/blueprint.h"

namespace infold::formats {

namespace {

/// Links from each GPU (row) to each (column).
using Matrix = std::vector<std::vector<int>>;

sim::Failure refuse_at(const std::string& file, config::Position where, std::string why) {
  return sim::fail(config::at(file, where, std::move(why)));
}

TopologyShape planes_of(const Topology& topology, Notes& notes) {
  // In the order in which the file first names them.
  std::vector<std::string> switches;
  std::map<std::string, std::vector<int>> counts;
  for (std::size_t g = 0; g < topology.gpus.size(); ++g) {
    for (const TopologyLink& link : topology.gpus[g].links) {
      if (link.to != TopologyLink::To::kSwitch) continue;
      auto& of = counts[link.target];
      if (of.empty()) switches.push_back(link.target);
      of.resize(topology.gpus.size());
      of[g] += link.count;
    }
  }
  TopologyShape shape;
  for (const std::string& name : switches) {
    const std::vector<int>& of = counts[name];
    const auto [least, most] = std::ranges::minmax_element(of);
    if (*least != *most)
      notes.assumed.push_back(
          fmt::format("switch {}: {} links from each GPU, because GPU {} has no more (others have up to {})",
                      config::shown(name, 16), *least, least - of.begin(), *most));
    if (*least > 0) shape.links_per_plane.push_back(*least);
  }
  return shape;
}

/// Whether the GPUs are joined as those of DGX-1, numbered in this order.
bool is_cube_mesh(const Matrix& links) {
  net::FabricSpec spec;
  spec.topology = net::Topology::kCubeMesh;
  const auto drawn = net::draw(spec, static_cast<int>(links.size()));
  if (!drawn) return false;
  Matrix cube(links.size(), std::vector<int>(links.size()));
  for (const net::Cable& cable : drawn->cables) {
    ++cube[net::index_of(cable.a)][net::index_of(cable.b)];
    ++cube[net::index_of(cable.b)][net::index_of(cable.a)];
  }
  return links == cube;
}

/// Whether each GPU has the same number of links to every other.
bool is_full_mesh(const Matrix& links) {
  for (std::size_t a = 0; a < links.size(); ++a) {
    for (std::size_t b = 0; b < links.size(); ++b) {
      if (a != b && links[a][b] != links[0][1]) return false;
    }
  }
  return links[0][1] > 0;
}

/// Whether the GPUs in this order form one ring of equal links.
bool is_ring(const Matrix& links) {
  const std::size_t n = links.size();
  if (n < 3) return false;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      const bool neighbours = (a + 1) % n == b || (b + 1) % n == a;
      if (links[a][b] != (neighbours ? links[0][1] : 0)) return false;
    }
  }
  return links[0][1] > 0;
}

sim::Result<Matrix> matrix_of(const Topology& topology, const std::string& file, Notes& notes) {
  std::map<std::string, std::size_t> index;
  for (std::size_t g = 0; g < topology.gpus.size(); ++g) index[topology.gpus[g].bus] = g;
  Matrix links(topology.gpus.size(), std::vector<int>(topology.gpus.size()));
  int other = 0;
  for (std::size_t g = 0; g < topology.gpus.size(); ++g) {
    for (const TopologyLink& link : topology.gpus[g].links) {
      if (link.to != TopologyLink::To::kGpu) {
        ++other;
        continue;
      }
      const auto to = index.find(link.target);
      if (to == index.end())
        return refuse_at(
            file, link.at,
            fmt::format("a link to {}, which is no GPU of this file", config::quote(link.target)));
      if (to->second == g) return refuse_at(file, link.at, "a link to the GPU itself");
      links[g][to->second] += link.count;
    }
  }
  if (other > 0)
    notes.ignored.push_back(fmt::format("{} links to what is neither a GPU nor a switch", other));
  for (std::size_t a = 0; a < links.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (links[a][b] == links[b][a]) continue;
      return refuse_at(
          file, topology.gpus[a].at,
          fmt::format("GPU {} has {} links to GPU {}, which has {} back", a, links[a][b], b, links[b][a]));
    }
  }
  return links;
}

sim::Result<TopologyShape> pcie_tree_of(const Topology& topology, const std::string& file, Notes& notes) {
  TopologyShape shape;
  shape.topology = net::Topology::kPcieTree;
  // Below one bridge all are one group; else those below the same outermost bridge of a CPU are.
  std::vector<std::pair<std::string, int>> groups;
  const auto key = [](const TopologyGpu& gpu, std::size_t depth) {
    std::string joined;
    for (std::size_t i = 0; i < std::min(depth, gpu.above.size()); ++i) joined += gpu.above[i] + "/";
    return joined;
  };
  for (const TopologyGpu& gpu : topology.gpus) {
    const std::string name = key(gpu, 2);
    if (groups.empty() || groups.back().first != name) groups.emplace_back(name, 0);
    ++groups.back().second;
    if (gpu.pcie > 0) shape.pcie = shape.pcie > 0 ? std::min(shape.pcie, gpu.pcie) : gpu.pcie;
  }
  const bool same =
      std::ranges::all_of(groups, [&](const auto& g) { return g.second == groups.front().second; });
  const bool all_single = groups.front().second == 1;
  if (!same)
    return refuse_at(
        file, topology.at,
        "PCIe switches with different numbers of GPUs below them, which no machine here can have");
  shape.groups = all_single ? 1 : static_cast<int>(groups.size());
  if (all_single && groups.size() > 1)
    notes.assumed.emplace_back("the CPU joins the GPUs like one PCIe switch");
  if (topology.cpus > 1 && groups.size() > 1)
    notes.assumed.emplace_back("the way between CPUs is as fast as one PCIe link");
  return shape;
}

}  // namespace

sim::Result<TopologyShape> find_shape(const Topology& topology, const std::string& file, Notes& notes) {
  bool to_switches = false;
  bool to_gpus = false;
  for (const TopologyGpu& gpu : topology.gpus) {
    for (const TopologyLink& link : gpu.links) {
      to_switches = to_switches || link.to == TopologyLink::To::kSwitch;
      to_gpus = to_gpus || link.to == TopologyLink::To::kGpu;
    }
  }
  if (to_switches) {
    if (to_gpus) notes.ignored.emplace_back("links between GPUs beside those to switches");
    TopologyShape shape = planes_of(topology, notes);
    if (shape.links_per_plane.empty())
      return refuse_at(file, topology.at, "there is no switch that all GPUs are joined to");
    return shape;
  }
  if (!to_gpus) return pcie_tree_of(topology, file, notes);
  const auto links = matrix_of(topology, file, notes);
  if (!links) return sim::fail_as(links);
  TopologyShape shape;
  shape.links_per_neighbour = links->size() > 1 ? (*links)[0][1] : 1;
  if (is_full_mesh(*links)) {
    shape.topology = net::Topology::kFullMesh;
  } else if (is_cube_mesh(*links)) {
    shape.topology = net::Topology::kCubeMesh;
  } else if (is_ring(*links)) {
    shape.topology = net::Topology::kRing;
  } else {
    std::string row;
    for (const int count : links->front()) row += fmt::format("{}{}", row.empty() ? "" : " ", count);
    return refuse_at(
        file, topology.gpus.front().at,
        fmt::format(
            "the links between the GPUs are neither a full mesh, a cube mesh nor a ring (GPU 0 has {})",
            row));
  }
  return shape;
}

}  // namespace infold::formats
