// Numbers the connections in the order in which the steps name them.
#include "coll/program/wiring.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace infold::coll {

Wiring::Wiring(const Program& program) : channels_(program.lists.size()) {
  std::map<Ends, std::uint32_t> known;
  const auto connection = [&](const Ends& ends) {
    const auto [place, added] = known.try_emplace(ends, static_cast<std::uint32_t>(connections_.size()));
    if (added) connections_.push_back(ends);
    return place->second;
  };
  std::size_t list = 0;
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      Channel& wired = channels_[list++];
      for (const Step& s : program.steps(rank, channel)) {
        wired.first.push_back(static_cast<std::uint32_t>(wired.connections.size()));
        for (int from : s.from) wired.connections.push_back(connection({from, rank, channel}));
        for (int to : s.to) wired.connections.push_back(connection({rank, to, channel}));
      }
    }
  }
}

std::vector<std::uint32_t> Wiring::by_ends() const {
  std::vector<std::uint32_t> order(connections_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return connections_[i]; });
  return order;
}

}  // namespace infold::coll
