// Pipelines as graphs: they can run, each message meets its own, bytes are those of the formulas, memory that
// of the schedule.
#include "train/strategy/pipeline.h"

#include <algorithm>
#include <set>

#include "pipeline_help.h"
#include "train/strategy/sharding.h"
#include "work/check.h"
#include "work/communications.h"

namespace infold::train {
namespace {

using namespace help;

struct PipelineCase {
  Layout layout;
  PipelineSpec spec;
  bool tied = false;
  bool overlap = true;
};
std::vector<PipelineCase> pipeline_cases() {
  std::vector<PipelineCase> all;
  for (const Layout& layout :
       {Layout{.pp = 2}, Layout{.pp = 4}, Layout{.dp = 2, .pp = 2}, Layout{.dp = 3, .pp = 4},
        Layout{.tp = 2, .pp = 2}, Layout{.dp = 2, .tp = 2, .pp = 2}}) {
    for (const auto& kind : kScheduleNames) {
      for (const int m : {1, 4, 8}) {
        for (const int v : {1, 2}) {
          const PipelineSpec spec{.schedule = kind.value, .micro_batches = m, .virtual_stages = v};
          if (!check_pipeline(spec, layout.pp)) continue;
          for (const bool tied : {false, true}) all.push_back({layout, spec, tied, true});
          all.push_back({layout, spec, true, false});
        }
      }
    }
  }
  return all;
}
std::string name_of(const PipelineCase& c) {
  return std::string(sim::name_of(c.spec.schedule)) + " pp " + std::to_string(c.layout.pp) + " dp " +
         std::to_string(c.layout.dp) + " tp " + std::to_string(c.layout.tp) + " m " +
         std::to_string(c.spec.micro_batches) + (c.tied ? " tied" : "") + (c.overlap ? "" : " no overlap");
}
const Recipe kRecipe{.batch = 2, .numbers = Numbers::kBf16};

PipelinePlan plan_of(const PipelineCase& c) {
  return plan_pipeline(transformer(8, c.tied), kRecipe, c.spec, c.layout.pp, split_of(c.layout, true))
      .value();
}
PipelineStep step_of(const PipelinePlan& plan, const PipelineCase& c) {
  return write_pipeline(
      {.plan = plan, .layout = c.layout, .sync = {.bucket = sim::Bytes::kib(64)}, .overlap = c.overlap});
}
std::string why(const sim::Status& s) {
  if (s) return "";
  std::string text = s.error().message;
  for (const std::string& line : s.error().details) text += "\n" + line;
  return text;
}

TEST(Pipeline, CanRunWithEveryScheduleAndLayout) {
  ASSERT_GT(pipeline_cases().size(), 50U);
  for (const PipelineCase& c : pipeline_cases()) {
    const PipelinePlan plan = plan_of(c);
    EXPECT_EQ(why(work::check(step_of(plan, c).graph)), "") << name_of(c);
  }
}

TEST(Pipeline, EveryMessageMeetsItsOwn) {
  for (const PipelineCase& c : pipeline_cases()) {
    const PipelinePlan plan = plan_of(c);
    const work::Graph g = step_of(plan, c).graph;
    std::map<std::pair<int, work::BufferId>, std::set<std::string>>
        names;                                                         // by group's first rank and buffer
    std::map<std::pair<int, int>, std::vector<work::BufferId>> order;  // by communicator and rank
    for (int r = 0; r < g.ranks(); ++r) {
      for (const work::Stream& s : g.script(r).streams) {
        for (const work::OpId op : s.ops) {
          const auto* t = std::get_if<work::Transfer>(&g[op].what);
          if (t != nullptr) order[{t->communicator, r}].push_back(t->buffer);
        }
      }
    }
    for (const auto& [where, buffers] : order) {
      const auto& groups = g.communicators[static_cast<std::size_t>(where.first)].groups;
      for (const auto& group : groups) {
        if (std::ranges::find(group, where.second) == group.end()) continue;
        for (const int other : group) EXPECT_EQ((order[{where.first, other}]), buffers) << name_of(c);
      }
    }
    for (const work::Buffer& b : g.buffers)
      EXPECT_EQ(b.input < 0, b.output < 0) << "both ends know their tensor";
  }
}

TEST(Pipeline, SendsActivationsAndGradientsOncePerMicroBatchAndBorder) {
  for (const PipelineCase& c : pipeline_cases()) {
    const PipelinePlan plan = plan_of(c);
    const work::Graph g = step_of(plan, c).graph;
    std::int64_t transferred = 0;
    std::int64_t reduced = 0;
    for (const work::Script& script : g.scripts) {
      for (const work::Stream& s : script.streams) {
        for (const work::OpId op : s.ops) {
          const bool transfer = std::holds_alternative<work::Transfer>(g[op].what);
          if (!transfer && (work::communicator_of(g[op]) < 0 || g[op].gradients.empty())) continue;
          const std::int64_t bytes =
              g.buffers[static_cast<std::size_t>(work::buffer_of(g[op]))].bytes.count();
          (transfer ? transferred : reduced) += bytes;
        }
      }
    }
    // Batch, tokens, width, bytes; with sequence parallelism each rank has its tokens.
    const std::int64_t activations = std::int64_t{2} * 32 * 64 * 2 / c.layout.tp;
    const std::int64_t borders = static_cast<std::int64_t>(plan.parts.size()) - 1;
    // Both ends have each transfer, and it goes there and back.
    EXPECT_EQ(transferred, 2 * 2 * borders * c.spec.micro_batches * activations) << name_of(c);
    std::int64_t expected = 0;
    for (const Plan& part : plan.plans) {
      for (const std::int64_t n : part.parameter_elements) expected += c.layout.dp > 1 ? 2 * n : 0;
    }
    if (c.tied) expected += std::int64_t{2} * 2 * 100 * 64 / c.layout.tp;
    EXPECT_EQ(reduced, expected) << name_of(c);
  }
}

TEST(Pipeline, AMissingOrDoubledTransferIsNoticed) {
  const PipelineCase c{.layout = {.pp = 4}, .spec = {.micro_batches = 4}};
  const PipelinePlan plan = plan_of(c);
  const work::Graph g = step_of(plan, c).graph;
  int tried = 0;
  for (std::size_t script = 0; script < g.scripts.size(); ++script) {
    for (std::size_t s = 0; s < g.scripts[script].streams.size(); ++s) {
      for (std::size_t i = 0; i < g.scripts[script].streams[s].ops.size(); ++i) {
        const work::OpId op = g.scripts[script].streams[s].ops[i];
        if (work::communicator_of(g[op]) < 0) continue;
        work::Graph missing = g;
        auto& ops = missing.scripts[script].streams[s].ops;
        ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
        for (work::Operation& o : missing.operations) std::erase(o.after, op);
        EXPECT_FALSE(work::check(missing)) << work::label(g, op);
        work::Graph doubled = g;
        doubled.add(doubled.scripts[script].streams[s], g[op]);
        EXPECT_FALSE(work::check(doubled)) << work::label(g, op);
        ++tried;
      }
    }
  }
  EXPECT_EQ(tried, 2 * 2 * 3 * 4);
}

TEST(Pipeline, EveryParameterIsUpdatedOnceOnEveryStageThatHoldsIt) {
  for (const PipelineCase& c : pipeline_cases()) {
    const PipelinePlan plan = plan_of(c);
    const work::Graph g = step_of(plan, c).graph;
    for (int stage = 0; stage < c.layout.pp; ++stage) {
      std::map<int, int> updated;
      std::map<int, int> completed;
      for (const work::Stream& s : g.scripts[static_cast<std::size_t>(stage)].streams) {
        for (const work::OpId op : s.ops) {
          if (!std::holds_alternative<work::Kernel>(g[op].what)) continue;
          for (const int p : g[op].gradients) ++(g[op].updates ? updated : completed)[p];
        }
      }
      std::size_t held = 0;
      for (int chunk = 0; chunk < c.spec.virtual_stages; ++chunk) {
        for (const ParameterId p :
             plan.parts[static_cast<std::size_t>(plan.part_of(stage, chunk))].parameters) {
          EXPECT_EQ(updated[p], 1) << name_of(c);
          EXPECT_EQ(completed[p], c.spec.micro_batches) << name_of(c);
          ++held;
        }
      }
      EXPECT_EQ(updated.size(), held);
    }
  }
}

TEST(Pipeline, WithZero1EveryGradientIsScatteredOnceAndEveryWeightGatheredOnce) {
  for (const PipelineCase& c : pipeline_cases()) {
    if (c.layout.dp == 1) continue;
    const SyncSpec sync{.kind = SyncKind::kZero1, .bucket_elements = 20'000};
    const PipelinePlan plan = plan_pipeline(transformer(8, c.tied), sharded(kRecipe, sync, c.layout), c.spec,
                                            c.layout.pp, split_of(c.layout, true))
                                  .value();
    const PipelineStep step =
        write_pipeline({.plan = plan, .layout = c.layout, .sync = sync, .overlap = c.overlap});
    EXPECT_EQ(why(work::check(step.graph)), "") << name_of(c);
    ASSERT_EQ(step.step_ended.size(), step.graph.scripts.size());
    for (int stage = 0; stage < c.layout.pp; ++stage) {
      std::map<int, int> scattered;
      std::map<int, int> gathered;
      for (const work::Stream& s : step.graph.scripts[static_cast<std::size_t>(stage)].streams) {
        for (const work::OpId op : s.ops) {
          const auto* collective = std::get_if<work::Collective>(&step.graph[op].what);
          if (collective == nullptr) continue;
          if (collective->what == coll::Collective::kReduceScatter && !step.graph[op].gradients.empty()) {
            for (const int p : step.graph[op].gradients) ++scattered[p];
          }
          for (const int p : step.graph[op].weights) ++gathered[p];
        }
      }
      std::size_t held = 0;
      for (int chunk = 0; chunk < c.spec.virtual_stages; ++chunk) {
        for (const ParameterId p :
             plan.parts[static_cast<std::size_t>(plan.part_of(stage, chunk))].parameters) {
          EXPECT_EQ(scattered[p], 1) << name_of(c);
          EXPECT_EQ(gathered[p], 1) << name_of(c);
          ++held;
        }
      }
      EXPECT_EQ(scattered.size(), held) << name_of(c);
      EXPECT_EQ(gathered.size(), held) << name_of(c);
    }
  }
}

TEST(Pipeline, TensorsAreSharedByMicroBatchesThatFollowEachOther) {
  const Layout layout{.pp = 4};
  const auto tensors = [&](int m) {
    const PipelineCase c{.layout = layout, .spec = {.micro_batches = m}};
    const PipelinePlan plan = plan_of(c);
    return step_of(plan, c).graph.tensors.size();
  };
  EXPECT_EQ(tensors(4), tensors(16)) << "1f1b has four under way at most";
}

TEST(Pipeline, MemoryGrowsWithTheMicroBatchesUnderWay) {
  const auto passing = [](ScheduleKind kind, int m, int stage) {
    const PipelineCase c{.layout = {.pp = 4}, .spec = {.schedule = kind, .micro_batches = m}};
    return memory_need(plan_of(c), stage).passing.count();
  };
  using enum ScheduleKind;
  // The second stage and the third hold the same layers, without an embedding or a projection.
  const std::int64_t one = passing(kGpipe, 1, 1);
  const std::int64_t each = passing(kGpipe, 2, 1) - one;
  EXPECT_GT(each, 0);
  EXPECT_EQ(passing(kGpipe, 8, 1), one + 7 * each);
  EXPECT_EQ(passing(k1f1b, 8, 1), one + 2 * each) << "three under way";
  EXPECT_EQ(passing(k1f1b, 8, 2), one + each);
  EXPECT_GE(passing(kZeroBubble, 8, 2), passing(k1f1b, 8, 2))
      << "what gradients of weights need is kept longer";
  EXPECT_LT(passing(kZeroBubble, 8, 2), passing(kGpipe, 8, 2));
}

TEST(Pipeline, OneStageWithOneMicroBatchNeedsWhatThePlanNeeds) {
  const Graph model = transformer(4);
  const PipelinePlan plan = plan_pipeline(model, kRecipe, {.schedule = ScheduleKind::kGpipe}, 1).value();
  const MemoryNeed whole = memory_need(make_plan(model, kRecipe));
  EXPECT_EQ(memory_need(plan, 0).total(), whole.total());
  EXPECT_EQ(memory_need(plan, 0).passing, whole.passing);
}

TEST(Pipeline, ReceivesArePostedWhenComputeComesToThemOrOnePassEarlier) {
  const auto posted = [](const PipelineCase& c) {
    const PipelinePlan plan = plan_of(c);
    const PipelineStep step = step_of(plan, c);
    // Of the last stage: the pass whose last kernel the last receive waits for, counted back from its own.
    const auto& script = step.graph.scripts.back();
    work::OpId receive = -1;
    for (const work::Stream& s : script.streams) {
      for (const work::OpId op : s.ops) {
        const auto* t = std::get_if<work::Transfer>(&step.graph[op].what);
        if (t != nullptr && t->from == 0 && s.name.starts_with("pp forward 0")) receive = op;
      }
    }
    std::vector<PassOps> mine;
    for (const PassOps& p : step.passes) {
      if (p.stage + 1 == c.layout.pp) mine.push_back(p);
    }
    const auto user = std::ranges::find_if(
        mine, [&](const PassOps& p) { return std::ranges::count(step.graph[p.first].after, receive) > 0; });
    const auto waits = std::ranges::find_if(
        mine, [&](const PassOps& p) { return p.last == step.graph[receive].after.front(); });
    return user - waits;
  };
  EXPECT_EQ(posted({.layout = {.pp = 2}, .spec = {.micro_batches = 4}}), 1);
  EXPECT_EQ(
      posted({.layout = {.pp = 2},
              .spec = {.schedule = ScheduleKind::kInterleaved, .micro_batches = 4, .virtual_stages = 2}}),
      2);
}

}  // namespace
}  // namespace infold::train
