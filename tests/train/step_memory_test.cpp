// The memory of sharded steps: what may be there at once, and the shards that are kept.
#include "train/strategy/step_memory.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sharding_help.h"
#include "train/strategy/step_writer.h"
#include "work/happens_before.h"

namespace infold::train {
namespace {

using namespace help;

/// What may be there at once while an operation of compute runs, by what comes before what.
class AliveBeside {
 public:
  AliveBeside(const Plan& plan, const work::Graph& graph)
      : plan_(plan),
        g_(graph),
        compute_(graph.scripts[0].streams[0].ops),
        order_(work::order_of(graph).value()),
        before_(graph, order_) {
    add_gatherings();
    add_reductions();
    add_tensors();
  }

  std::int64_t most() const {
    std::int64_t most = 0;
    for (const work::OpId now : compute_) {
      std::int64_t sum = 0;
      for (const Item& i : items_) {
        if (!precedes(now, i.first) && !precedes(i.last, now)) sum += i.bytes;
      }
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  struct Item {
    work::OpId first;
    work::OpId last;
    std::int64_t bytes;
  };

  bool precedes(work::OpId a, work::OpId b) const {
    return before_(before_.node({0, a}), before_.node({0, b}));
  }
  std::int64_t bytes(work::BufferId b) const { return g_.buffers[static_cast<std::size_t>(b)].bytes.count(); }
  bool waits(work::OpId op, work::OpId for_this) const {
    return std::ranges::find(g_[op].after, for_this) != g_[op].after.end();
  }

  /// Buffers from the copy in to the copy out; weights from there until they are freed.
  void add_gatherings() {
    for (const work::OpId all : collectives(g_, coll::Collective::kAllGather)) {
      const auto& c = std::get<work::Collective>(g_[all].what);
      if (c.source < 0) continue;
      const auto out = std::ranges::find_if(compute_, [&](work::OpId o) { return waits(o, all); });
      auto freed = out;
      const int p = g_[all].weights.front();
      while (std::ranges::find(g_[*freed].frees, p) == g_[*freed].frees.end()) ++freed;
      items_.push_back({g_[all].after.at(0), *out, bytes(c.buffer)});
      const auto& copy = std::get<work::Copy>(g_[*out].what);
      items_.push_back({*out, *freed, g_.tensors[static_cast<std::size_t>(copy.tensor)].bytes()});
    }
  }

  /// Buffers, and what comes out where it is copied to what is kept.
  void add_reductions() {
    for (const work::OpId reduced : collectives(g_, coll::Collective::kReduceScatter)) {
      const auto& c = std::get<work::Collective>(g_[reduced].what);
      if (c.source < 0) continue;
      const work::OpId in = g_[reduced].after.at(0);
      items_.push_back({in, reduced, bytes(c.buffer)});
      for (const work::OpId o : g_.scripts[0].streams[StepWriter::kCopies].ops) {
        if (waits(o, reduced)) items_.push_back({in, o, bytes(c.buffer) / g_.ranks()});
      }
    }
  }

  /// Activations, and gradients until they have been copied or reduced.
  void add_tensors() {
    std::vector<work::OpId> first(plan_.tensors.size(), -1);
    std::vector<work::OpId> last(plan_.tensors.size(), -1);
    for (int op = 0; op < static_cast<int>(plan_.ops.size()); ++op) {
      const Op& o = plan_.ops[static_cast<std::size_t>(op)];
      for (const auto& ids : {reads_of(o), writes_of(o)}) {
        for (const TensorId t : ids) {
          if (first[static_cast<std::size_t>(t)] < 0) first[static_cast<std::size_t>(t)] = op;
          last[static_cast<std::size_t>(t)] = op;
        }
      }
    }
    for (const GradientReady& r : plan_.ready) {
      const auto t = static_cast<std::size_t>(plan_.gradients[static_cast<std::size_t>(r.parameter)]);
      if (first[t] < 0) first[t] = r.op;
      for (work::OpId op = 0; op < static_cast<work::OpId>(g_.operations.size()); ++op) {
        const work::Operation& o = g_[op];
        if (std::ranges::find(o.gradients, r.parameter) == o.gradients.end()) continue;
        const auto* copy = std::get_if<work::Copy>(&o.what);
        const auto* c = std::get_if<work::Collective>(&o.what);
        if ((copy != nullptr && !copy->back) || (c != nullptr && c->source < 0)) last[t] = op;
      }
    }
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      const TensorSpec::Role role = plan_.tensors[t].role;
      if (first[t] >= 0 && (role == TensorSpec::Role::kPassing || role == TensorSpec::Role::kGradient))
        items_.push_back({first[t], last[t], plan_.tensors[t].bytes()});
    }
  }

  const Plan& plan_;
  const work::Graph& g_;
  const std::vector<work::OpId>& compute_;
  std::vector<work::Turn> order_;
  work::HappensBefore before_;
  std::vector<Item> items_;
};

TEST(StepMemory, IsWhatMayBeThereAtOnce) {
  const Graph g = blocks(4);
  for (const SyncKind kind : {SyncKind::kZero2, SyncKind::kFsdp}) {
    for (const Recipe& recipe : recipes()) {
      for (const bool overlap : {true, false}) {
        for (const int ahead : {1, 2}) {
          SyncSpec spec = spec_of(kind);
          spec.forward_prefetch = spec.backward_prefetch = ahead;
          const Step s = sharded_step(g, recipe, spec, {.dp = 2}, overlap);
          const MemoryNeed need = memory_need(request_of(s, spec, {.dp = 2}), s.step);
          EXPECT_EQ((need.passing + need.gathered).count(), AliveBeside(s.plan, s.step.graph).most())
              << sim::name_of(kind) << " " << overlap << " " << ahead;
        }
      }
    }
  }
}

TEST(StepMemory, KeepsShardsOfWhatTheStrategyShards) {
  const Graph g = blocks(4);
  const auto n = static_cast<double>(g.parameter_count());
  const auto need = [&](SyncKind kind) {
    const Step s = sharded_step(g, {.batch = 2, .optimizer = Optimizer::kAdam}, spec_of(kind), {.dp = 4});
    return memory_need(request_of(s, spec_of(kind), {.dp = 4}), s.step);
  };
  const auto kept = [&](SyncKind kind) {
    const MemoryNeed m = need(kind);
    return static_cast<double>((m.weights + m.gradients + m.optimizer).count()) / n;
  };
  // Mixed precision: weights and gradients in fp32, two moments; ZeRO has whole weights in 16 bits.
  EXPECT_NEAR(kept(SyncKind::kDdp), 4 + 4 + 8, 0.05);
  EXPECT_NEAR(kept(SyncKind::kZero1), 2 + 4 + (4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kZero2), 2 + (4 + 4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kFsdp), (4 + 4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kHsdp), (4 + 4 + 8) / 2.0, 0.05);
  EXPECT_GT(need(SyncKind::kFsdp).gathered, sim::Bytes{});
}

}  // namespace
}  // namespace infold::train
