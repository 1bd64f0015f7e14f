// Graphs that differ from a right one by one operation: the checker must notice.
#pragma once

#include <algorithm>
#include <map>

#include "work/graph.h"

namespace infold::train::help {

/// The operation is not there, and nobody waits for it.
inline work::Graph without(work::Graph g, work::OpId gone) {
  for (work::Operation& o : g.operations) std::erase(o.after, gone);
  for (work::Stream& s : g.scripts[0].streams) std::erase(s.ops, gone);
  return g;
}
/// The operation runs twice, one behind the other, and who waits for it waits for both. Those behind it in
/// its stream get later numbers, as the order of memory asks for.
inline work::Graph doubled(work::Graph g, work::OpId twice) {
  const work::OpId again = g.add(work::Operation(g[twice]));
  std::map<work::OpId, work::OpId> now;
  for (work::Stream& s : g.scripts[0].streams) {
    const auto at = std::ranges::find(s.ops, twice);
    if (at == s.ops.end()) continue;
    const auto place = at - s.ops.begin();
    for (auto later = at + 1; later != s.ops.end(); ++later) {
      now[*later] = g.add(work::Operation(g[*later]));
      *later = now[*later];
    }
    s.ops.insert(s.ops.begin() + place + 1, again);
    break;
  }
  for (work::Operation& o : g.operations) {
    for (work::OpId& b : o.after) {
      if (now.contains(b)) b = now[b];
    }
    if (std::ranges::find(o.after, twice) != o.after.end()) o.after.push_back(again);
  }
  return g;
}

}  // namespace infold::train::help
