// What every timeline can tell from its graph.
#include "work/timeline.h"

#include <algorithm>

namespace infold::work {

std::vector<OpId> Timeline::communications(int rank) const {
  const Graph& g = graph();
  std::vector<OpId> all;
  for (const Stream& stream : g.script(rank).streams) {
    for (const OpId op : stream.ops) {
      if (communicator_of(g[op]) >= 0 && !std::holds_alternative<Gather>(g[op].what)) all.push_back(op);
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace infold::work
