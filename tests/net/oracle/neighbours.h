// Who is joined to the switches of a machine, and by which links: what a load for units must know.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "net/packet/packet.h"
#include "net/topology/blueprint.h"

namespace infold::net::oracle {

struct Neighbour {
  NodeId node = 0;
  LinkId out = 0;          ///< from the switch to it; the way back is out ^ 1
  std::uint16_t lane = 0;  ///< of a GPU: which of its links that cable is
};

struct SwitchNeighbours {
  std::vector<Neighbour> gpus;   ///< each once
  std::vector<Neighbour> above;  ///< switches that have no GPU, each once
  std::vector<Neighbour> below;  ///< switches that have GPUs, each once
};

/// By node. A switch without GPUs stands above those with GPUs.
inline std::vector<SwitchNeighbours> neighbours_of(const Blueprint& b) {
  std::vector<SwitchNeighbours> all(static_cast<std::size_t>(b.nodes()));
  std::vector<std::uint16_t> lanes(static_cast<std::size_t>(b.nodes()));
  std::vector<bool> has_gpus(static_cast<std::size_t>(b.nodes()));
  for (const Cable& c : b.cables) {
    for (const auto& [x, y] : {std::pair{c.a, c.b}, std::pair{c.b, c.a}}) {
      if (b.is_gpu(x)) has_gpus[index_of(y)] = true;
    }
  }
  std::set<std::pair<NodeId, NodeId>> known;
  for (LinkId link = 0; link < 2 * b.cables.size(); ++link) {
    const Cable& c = b.cables[link / 2];
    const NodeId from = link % 2 == 0 ? c.a : c.b;
    const NodeId to = link % 2 == 0 ? c.b : c.a;
    const std::uint16_t lane = lanes[index_of(to)]++;
    if (b.is_gpu(from) || !known.emplace(from, to).second) continue;
    SwitchNeighbours& mine = all[index_of(from)];
    if (b.is_gpu(to)) {
      mine.gpus.push_back({to, link, lane});
    } else if (has_gpus[index_of(to)]) {
      mine.below.push_back({to, link, 0});
    } else {
      mine.above.push_back({to, link, 0});
    }
  }
  return all;
}

}  // namespace infold::net::oracle
