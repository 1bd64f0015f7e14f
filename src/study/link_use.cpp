// Divides the bytes that crossed a link by what it could have carried.
#include "study/link_use.h"

#include <algorithm>
#include <map>
#include <utility>

namespace infold::study {

FabricUse use_of_links(const gpu::Machine& machine, sim::Time over, int simulated, int gpus) {
  FabricUse use{.gpus = machine.gpus(),
                .nodes = machine.blueprint().nodes(),
                .links = {},
                .nodes_of_machine = machine.plan().nodes()};
  std::map<std::pair<net::NodeId, net::NodeId>, std::size_t> known;
  const net::FabricMap& map = machine.map();
  for (net::LinkId link = 0; link < map.links(); ++link) {
    const auto [place, added] = known.try_emplace({map.from(link), map.to(link)}, use.links.size());
    if (added) use.links.push_back({.from = map.from(link), .to = map.to(link)});
    LinkUse& u = use.links[place->second];
    const double most = map.type(link).rate.in_gbps() * 1e9 * over.in_s();
    const double share = static_cast<double>(machine.network().counters(link).wire_bytes) / most;
    ++u.cables;
    u.mean += share;
    u.busiest = std::max(u.busiest, share);
  }
  for (LinkUse& u : use.links) u.mean /= u.cables;
  const auto who = [&](net::NodeId node) {
    return node < gpus ? static_cast<net::NodeId>(node % simulated) : node;
  };
  for (LinkUse& u : use.links) {
    const auto stood = known.find({who(u.from), who(u.to)});
    if (stood == known.end()) continue;
    u.mean = use.links[stood->second].mean;
    u.busiest = use.links[stood->second].busiest;
  }
  return use;
}

}  // namespace infold::study
