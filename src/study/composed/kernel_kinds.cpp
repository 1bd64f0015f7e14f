// Follows how many bytes were touched since each tensor was touched last: its distance. Up to the size of L2
// that says how much of it is still there, and beyond twice the size nothing is.
#include "study/composed/kernel_kinds.h"

#include <algorithm>
#include <utility>

#include "study/composed/excerpt.h"

namespace infold::study::composed {

namespace {

/// Behind so many bytes, in sizes of L2, a tensor is taken to be gone.
constexpr std::int64_t kGone = 2;
/// At most so many kernels before one are its surroundings, and warm the caches for a window.
constexpr std::size_t kMostBefore = 8;
constexpr std::size_t kMostWarming = 24;

}  // namespace

KernelKinds::KernelKinds(const work::Graph& graph, sim::Bytes cache)
    : graph_(graph), cache_(cache.count()), kind_(graph.operations.size(), -1) {
  for (const work::Script& script : graph.scripts) {
    for (const work::Stream& stream : script.streams) {
      std::vector<work::OpId> ops;
      for (const work::OpId op : stream.ops) {
        for (const work::OpId before : graph[op].after) {
          if (moves_tensors(graph, graph[before])) ops.push_back(before);
        }
        if (has_kernels(graph[op])) ops.push_back(op);
      }
      if (std::ranges::none_of(ops, [&](work::OpId op) { return has_kernels(graph[op]); })) continue;
      streams_.push_back(std::move(ops));
      beside_.push_back(stream.kind == work::Stream::Kind::kBeside);
      number(streams_.size() - 1);
    }
  }
}

std::int64_t KernelKinds::bytes_of(work::OpId op) const {
  std::int64_t sum = 0;
  for (const Touch& t : touches_of(graph_, graph_[op])) sum += t.bytes;
  return sum;
}

void KernelKinds::number(std::size_t stream) {
  std::map<std::tuple<bool, int, std::int64_t>, std::int64_t> touched;  // how many bytes before it
  std::int64_t bytes = 0;
  std::vector<std::string> shapes;
  const std::vector<work::OpId>& ops = streams_[stream];
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const bool runs = has_kernels(graph_[ops[i]]);
    ContentKey shape;
    add_shape(shape, graph_, graph_[ops[i]]);
    shape.add(runs ? 0 : bytes_of(ops[i]));
    shapes.push_back(shape.text());
    ContentKey key;
    key.add(std::string_view(shapes.back()));
    std::int64_t around = 0;
    for (std::size_t b = i; b-- > 0 && i - b <= kMostBefore && around < cache_ && !beside_[stream];) {
      key.add(std::string_view(shapes[b]));
      around += bytes_of(ops[b]);
    }
    for (const Touch& t : touches_of(graph_, graph_[ops[i]])) {
      const auto before = touched.find({t.is_buffer, t.number, t.offset});
      const std::int64_t distance = before == touched.end() ? kGone * cache_ : bytes - before->second;
      key.add(beside_[stream] ? -1 : std::min(distance, kGone * cache_));
      bytes += t.bytes;
      touched[{t.is_buffer, t.number, t.offset}] = bytes;
    }
    if (!runs) continue;
    const auto [at, is_new] = known_.try_emplace(key.text(), count());
    if (is_new) first_.push_back({stream, i});
    kind_[static_cast<std::size_t>(ops[i])] = at->second;
  }
}

std::vector<Window> KernelKinds::windows(const std::set<int>& kinds) const {
  std::vector<Window> all;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const std::vector<work::OpId>& ops = streams_[s];
    std::vector<bool> wanted(ops.size());
    std::vector<bool> taken(ops.size());
    for (const int kind : kinds) {
      const Place& place = first_[static_cast<std::size_t>(kind)];
      if (place.stream != s) continue;
      wanted[place.position] = taken[place.position] = true;
      if (beside_[s]) continue;
      std::int64_t warm = 0;
      for (std::size_t b = place.position; b-- > 0 && place.position - b <= kMostWarming && warm < cache_;) {
        taken[b] = true;
        warm += bytes_of(ops[b]);
      }
    }
    bool open = false;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (taken[i]) {
        if (!open || beside_[s]) all.emplace_back();
        all.back().ops.push_back(ops[i]);
        all.back().kinds.push_back(kind_[static_cast<std::size_t>(ops[i])]);
        all.back().wanted.push_back(wanted[i]);
      }
      open = taken[i];
    }
  }
  return all;
}

}  // namespace infold::study::composed
