// Graphs that differ from a right one by one operation: the checker must notice.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "work/check.h"
#include "work/graph.h"
#include "work/happens_before.h"

namespace infold::train::help {

/// The operation is not there, and nobody waits for it.
inline work::Graph without(work::Graph g, work::OpId gone) {
  for (work::Operation& o : g.operations) std::erase(o.after, gone);
  for (work::Script& script : g.scripts) {
    for (work::Stream& s : script.streams) std::erase(s.ops, gone);
  }
  return g;
}
/// The operation runs twice, one behind the other, and who waits for it waits for both. Those behind it in
/// its stream get later numbers, as the order of memory asks for.
inline work::Graph doubled(work::Graph g, work::OpId twice) {
  const work::OpId again = g.add(work::Operation(g[twice]));
  std::map<work::OpId, work::OpId> now;
  for (work::Script& script : g.scripts) {
    for (work::Stream& s : script.streams) {
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
  }
  for (work::Operation& o : g.operations) {
    for (work::OpId& b : o.after) {
      if (now.contains(b)) b = now[b];
    }
    if (std::ranges::find(o.after, twice) != o.after.end()) o.after.push_back(again);
  }
  return g;
}

/// The operations of each communication: one, or where ranks of several scripts meet one of each script.
inline std::set<std::set<work::OpId>> communications(const work::Graph& g) {
  std::set<std::set<work::OpId>> all;
  const auto order = work::order_of(g).value();
  for (std::size_t i = 0; i < order.size();) {
    const std::size_t end = i + work::who_meets(g, order[i]).size();
    std::set<work::OpId> ops;
    for (; i < end; ++i) ops.insert(order[i].op);
    if (work::communicator_of(g[*ops.begin()]) >= 0) all.insert(std::move(ops));
  }
  return all;
}
/// A communication that nobody takes part in, and one that all take part in twice.
inline work::Graph without(work::Graph g, const std::set<work::OpId>& gone) {
  for (const work::OpId op : gone) g = without(std::move(g), op);
  return g;
}
inline work::Graph doubled(work::Graph g, const std::set<work::OpId>& twice) {
  for (const work::OpId op : twice) g = doubled(std::move(g), op);
  return g;
}

}  // namespace infold::train::help
