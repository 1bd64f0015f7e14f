// Which rail a ring is on between which nodes.
#include "coll/algo/over_nodes.h"

#include <algorithm>
#include <map>

namespace infold::coll {

NodeRanks ranks_of_nodes(const net::Blueprint& blueprint, std::span<const int> gpus) {
  NodeRanks nodes;
  std::map<int, std::size_t> known;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    const auto [place, added] = known.try_emplace(blueprint.node_of(gpus[rank]), nodes.size());
    if (added) nodes.emplace_back();
    nodes[place->second].push_back(static_cast<int>(rank));
  }
  return nodes;
}

bool has_switches(const net::Blueprint& blueprint) {
  if (!blueprint.several_nodes()) return blueprint.switches > 0;
  return std::ranges::any_of(blueprint.cables, [&](const net::Cable& c) {
    return blueprint.is_gpu(c.a) && blueprint.role(c.b) == net::NodeRole::kSwitch;
  });
}

bool over_nodes(const net::Blueprint& blueprint, std::span<const int> gpus) {
  return std::ranges::any_of(
      gpus, [&](int gpu) { return blueprint.node_of(gpu) != blueprint.node_of(gpus.front()); });
}

namespace {

/// The places of a node in the order in which a ring that enters at one place and leaves at another passes
/// them: upwards from the first, or downwards if that ends at the last.
void walk_node(const std::vector<int>& ranks, int enter, int leave, Ring& ring) {
  const int n = static_cast<int>(ranks.size());
  const bool down = leave == (enter + 1) % n && n > 2;
  ring.push_back(ranks[static_cast<std::size_t>(enter)]);
  for (int i = 1; i < n; ++i) {
    const int place = (down ? enter - i + n : enter + i) % n;
    if (place != leave) ring.push_back(ranks[static_cast<std::size_t>(place)]);
  }
  if (leave != enter) ring.push_back(ranks[static_cast<std::size_t>(leave)]);
}

}  // namespace

std::vector<Ring> rings_over_nodes(const NodeRanks& nodes) {
  const int each = static_cast<int>(nodes.front().size());
  const int count = static_cast<int>(nodes.size());
  if (std::ranges::any_of(nodes, [&](const auto& node) { return std::ssize(node) != each; })) {
    Ring ring;
    for (const auto& node : nodes) ring.insert(ring.end(), node.begin(), node.end());
    return {ring};
  }
  std::vector<Ring> rings;
  for (int first = 0; first < each; ++first) {
    const int second = (first + each - 1) % each;
    // The rail by which a ring enters a node is that by which it left the one before.
    const auto rail = [&](int node) {
      if (count % 2 == 1 && node == count - 1 && each > 2) return (first + 1) % each;
      return node % 2 == 0 ? first : second;
    };
    Ring& ring = rings.emplace_back();
    for (int node = 0; node < count; ++node) {
      const int enter = rail(node);
      int leave = rail((node + 1) % count);
      if (leave == enter) leave = (enter + each - 1) % each;  // two rails cannot alternate over an odd number
      walk_node(nodes[static_cast<std::size_t>(node)], enter, leave, ring);
    }
  }
  return rings;
}

}  // namespace infold::coll
