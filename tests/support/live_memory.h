// What a rank's activations took in memory while a graph ran, counted from when operations ran and from
// nothing else: a tensor is there from when it begins to be written until the last one that reads it has
// ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "work/communications.h"
#include "work/runtime.h"

namespace infold::help {

class LiveMemory {
 public:
  LiveMemory(const work::Runtime& runtime, int rank) : graph_(runtime.graph()) {
    for (const work::Stream& s : graph_.script(rank).streams) {
      for (const work::OpId op : s.ops) add(op, runtime.times(rank, op), rank);
    }
  }

  /// The most bytes at one time.
  std::int64_t most() const {
    std::map<sim::Time, std::int64_t> change;
    for (const auto& [tensor, uses] : uses_) {
      auto all = uses;
      std::ranges::sort(all, {}, &Use::start);
      const std::int64_t bytes = graph_.tensors[static_cast<std::size_t>(tensor)].bytes();
      for (std::size_t i = 0; i < all.size();) {
        sim::Time end = all[i].end;
        std::size_t next = i + 1;
        // What is written without being read is new.
        for (; next < all.size() && !(all[next].writes && !all[next].reads); ++next)
          end = sim::max(end, all[next].end);
        change[all[i].start] += bytes;
        change[end] -= bytes;
        i = next;
      }
    }
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const auto& [when, bytes] : change) most = std::max(most, now += bytes);
    return most;
  }

 private:
  struct Use {
    sim::Time start;
    sim::Time end;
    bool reads = false;
    bool writes = false;
  };

  void use(work::TensorId t, const work::Runtime::Times& when, bool writes) {
    if (t < 0 || graph_.tensors[static_cast<std::size_t>(t)].role != work::TensorSpec::Role::kPassing) return;
    std::vector<Use>& uses = uses_[t];
    if (uses.empty() || uses.back().start != when.start || uses.back().end != when.end)
      uses.push_back({when.start, when.end});
    (writes ? uses.back().writes : uses.back().reads) = true;
  }
  void add(work::OpId op, const work::Runtime::Times& when, int rank) {
    const work::Operation& o = graph_[op];
    if (const auto* k = std::get_if<work::Kernel>(&o.what)) {
      const work::Touched touched = work::touched(k->what);
      for (const work::TensorId t : touched.reads) use(t, when, false);
      for (const work::TensorId t : touched.writes) use(t, when, true);
    }
    const work::CommunicatorId c = work::communicator_of(o);
    if (c < 0 || std::holds_alternative<work::Gather>(o.what)) return;
    const work::Buffer& buffer = graph_.buffers[static_cast<std::size_t>(work::buffer_of(o))];
    const auto* message = std::get_if<work::Transfer>(&o.what);
    const bool sends = message == nullptr ||
                       work::group_of(graph_, c, rank)[static_cast<std::size_t>(message->from)] == rank;
    if (sends) use(buffer.input, when, false);
    if (message == nullptr || !sends) use(buffer.output, when, true);
  }

  const work::Graph& graph_;
  std::map<work::TensorId, std::vector<Use>> uses_;
};

}  // namespace infold::help
