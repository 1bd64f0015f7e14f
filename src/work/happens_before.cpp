// A set of bits for each operation of each rank: all that is before it.
#include "work/happens_before.h"

#include <algorithm>

namespace infold::work {

std::vector<int> who_meets(const Graph& graph, const Turn& turn) {
  const CommunicatorId c = communicator_of(graph[turn.op]);
  if (c < 0) return {turn.rank};
  for (const std::vector<int>& group : graph.communicators[static_cast<std::size_t>(c)].groups) {
    if (std::ranges::find(group, turn.rank) != group.end()) return group;
  }
  return {turn.rank};
}

HappensBefore::HappensBefore(const Graph& graph, const std::vector<Turn>& order)
    : place_(graph.scripts.size(), std::vector<std::size_t>(graph.operations.size())) {
  std::vector<std::vector<OpId>> previous(graph.scripts.size(),
                                          std::vector<OpId>(graph.operations.size(), -1));
  std::vector<std::size_t> count(graph.scripts.size());
  for (std::size_t script = 0; script < graph.scripts.size(); ++script) {
    for (const Stream& s : graph.scripts[script].streams) {
      for (const OpId op : s.ops) place_[script][static_cast<std::size_t>(op)] = count[script]++;
      if (s.kind == Stream::Kind::kBeside) continue;
      for (std::size_t i = 1; i < s.ops.size(); ++i)
        previous[script][static_cast<std::size_t>(s.ops[i])] = s.ops[i - 1];
    }
  }
  std::size_t nodes = 0;
  for (const int script : graph.script_of) {
    script_of_.push_back(static_cast<std::size_t>(script));
    first_.push_back(nodes);
    nodes += count[script_of_.back()];
  }
  words_ = (nodes + 63) / 64;
  bits_.resize(nodes * words_);
  for (std::size_t i = 0; i < order.size();) {
    const std::size_t end = i + who_meets(graph, order[i]).size();
    for (std::size_t a = i; a < end; ++a) {
      const Turn t = order[a];
      const auto script = static_cast<std::size_t>(graph.script_of[static_cast<std::size_t>(t.rank)]);
      if (const OpId b = previous[script][static_cast<std::size_t>(t.op)]; b >= 0)
        add(node({t.rank, b}), node(t));
      for (const OpId b : graph[t.op].after) add(node({t.rank, b}), node(t));
      if (const auto* g = std::get_if<Gather>(&graph[t.op].what)) {
        for (const Gather::Part& p : g->parts) add(node({t.rank, p.when}), node(t));
      }
    }
    // Each is joined twice, so that the first ones learn what only the last ones know.
    for (int round = 0; round < 2; ++round) {
      for (std::size_t a = i + 1; a < end; ++a) join(node(order[i]), node(order[a]));
    }
    i = end;
  }
}

void HappensBefore::add(std::size_t first, std::size_t then) {
  for (std::size_t w = 0; w < words_; ++w) bits_[then * words_ + w] |= bits_[first * words_ + w];
  bits_[then * words_ + first / 64] |= std::uint64_t{1} << (first % 64);
}

void HappensBefore::join(std::size_t a, std::size_t b) {
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t both = bits_[a * words_ + w] | bits_[b * words_ + w];
    bits_[a * words_ + w] = bits_[b * words_ + w] = both;
  }
}

}  // namespace infold::work
