// The rules of pipelines: right graphs keep them with every schedule, layout and strategy, and one that lacks
// or doubles a communication, or does not wait for one, is caught.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "mutants.h"
#include "pipeline_help.h"
#include "sharding_help.h"

namespace infold::train {
namespace {

using namespace help;

struct Checked {
  Layout layout;
  PipelineSpec spec;
  SyncKind sync = SyncKind::kDdp;
  bool tied = false;
  bool sp = true;
  bool overlap = true;
};
std::string name_of(const Checked& c) {
  const Layout& l = c.layout;
  return fmt::format("{} pp {} dp {} tp {} cp {} m {} v {} {}{}{}{}", sim::name_of(c.spec.schedule), l.pp,
                     l.dp, l.tp, l.cp, c.spec.micro_batches, c.spec.virtual_stages, sim::name_of(c.sync),
                     c.tied ? " tied" : "", c.sp ? "" : " no sp", c.overlap ? "" : " no overlap");
}

struct Built {
  PipelineStep step;
  work::StepRules rules;
};
Built built(const Checked& c, int blocks) {
  const SyncSpec sync{.kind = c.sync, .bucket = sim::Bytes::kib(64), .bucket_elements = 20'000};
  const Recipe recipe{.batch = 2, .numbers = Numbers::kBf16};
  const auto plan = plan_pipeline(transformer(blocks, c.tied), sharded(recipe, sync, c.layout), c.spec,
                                  c.layout.pp, split_of(c.layout, c.sp))
                        .value();
  const PipelineRequest request{.plan = plan, .layout = c.layout, .sync = sync, .overlap = c.overlap};
  Built b{write_pipeline(request), {}};
  b.rules = rules_of(request, b.step);
  return b;
}

std::vector<Checked> checked(const std::vector<Layout>& layouts, const std::vector<int>& micro_batches) {
  std::vector<Checked> all;
  for (const Layout& layout : layouts) {
    for (const auto& kind : kScheduleNames) {
      for (const int m : micro_batches) {
        for (const int v : {1, 2}) {
          const PipelineSpec spec{.schedule = kind.value, .micro_batches = m, .virtual_stages = v};
          if (!check_pipeline(spec, layout.pp)) continue;
          for (const SyncKind sync : {SyncKind::kDdp, SyncKind::kZero1}) {
            if (sync == SyncKind::kZero1 && layout.dp * layout.cp == 1) continue;
            all.push_back({layout, spec, sync});
            all.push_back({layout, spec, sync, /*tied=*/true, /*sp=*/false, /*overlap=*/false});
          }
        }
      }
    }
  }
  return all;
}

TEST(PipelineCheck, EveryStageUpdatesItsParametersFromAllReplicasAndMicroBatches) {
  const auto cases =
      checked({Layout{.pp = 2}, Layout{.pp = 4}, Layout{.dp = 2, .pp = 2}, Layout{.dp = 3, .pp = 4},
               Layout{.tp = 2, .pp = 2}, Layout{.dp = 2, .tp = 2, .pp = 2}, Layout{.pp = 2, .cp = 2}},
              {1, 4, 8});
  ASSERT_GT(cases.size(), 80U);
  for (const Checked& c : cases) {
    const Built b = built(c, 8);
    EXPECT_EQ(step_flaw(b.step.graph, b.rules), "") << name_of(c);
  }
}

TEST(PipelineCheck, AMissingOrDoubledCommunicationIsCaught) {
  int mutants = 0;
  for (const Checked& c : checked({Layout{.pp = 2}, Layout{.dp = 2, .pp = 2}, Layout{.tp = 2, .pp = 2},
                                   Layout{.dp = 2, .tp = 2, .pp = 2}},
                                  {2})) {
    const Built b = built(c, 4);
    const work::Graph& g = b.step.graph;
    for (const auto& ops : communications(g)) {
      mutants += 2;
      EXPECT_NE(step_flaw(without(g, ops), b.rules), "") << name_of(c) << ": no " << label(g, *ops.begin());
      EXPECT_NE(step_flaw(doubled(g, ops), b.rules), "")
          << name_of(c) << ": twice " << label(g, *ops.begin());
      if (ops.size() == 1) continue;
      for (const work::OpId op : ops) {  // one end only
        mutants += 2;
        EXPECT_NE(step_flaw(without(g, op), b.rules), "") << name_of(c) << ": no " << label(g, op);
        EXPECT_NE(step_flaw(doubled(g, op), b.rules), "") << name_of(c) << ": twice " << label(g, op);
      }
    }
  }
  EXPECT_GT(mutants, 1000);
}

/// Micro-batches use the places of earlier ones again, so what is read must belong to the same one.
TEST(PipelineCheck, WithManyMicroBatchesAMissingMessageIsCaughtThoughItsPlaceIsFull) {
  for (const auto& kind : kScheduleNames) {
    const PipelineSpec spec{.schedule = kind.value,
                            .micro_batches = 8,
                            .virtual_stages = kind.value == ScheduleKind::kInterleaved ? 2 : 1};
    const Checked c{.layout = {.pp = 2}, .spec = spec};
    const Built b = built(c, 4);
    int messages = 0;
    for (const auto& ops : communications(b.step.graph)) {
      ++messages;
      EXPECT_NE(step_flaw(without(b.step.graph, ops), b.rules), "")
          << name_of(c) << ": " << label(b.step.graph, *ops.begin());
    }
    EXPECT_GE(messages, 16);
  }
}

TEST(PipelineCheck, AMissingWaitForAMessageIsCaught) {
  int tried = 0;
  for (const Checked& c : checked({Layout{.pp = 2}, Layout{.dp = 2, .tp = 2, .pp = 2}}, {4})) {
    const Built b = built(c, 4);
    const work::Graph& g = b.step.graph;
    for (int stage = 0; stage < 2; ++stage) {
      const int rank = static_cast<int>(std::ranges::find(g.script_of, stage) - g.script_of.begin());
      for (const work::OpId op : g.script(rank).streams.front().ops) {
        for (const work::OpId before : g[op].after) {
          const auto* message = std::get_if<work::Transfer>(&g[before].what);
          if (message == nullptr) continue;
          const auto& pair = work::group_of(g, message->communicator, rank);
          if (pair[static_cast<std::size_t>(message->from)] == rank) continue;  // its own message
          ++tried;
          work::Graph broken = g;
          for (work::Operation& o : broken.operations) std::erase(o.after, before);
          EXPECT_NE(step_flaw(broken, b.rules), "")
              << name_of(c) << ": nobody waits for " << label(g, before);
        }
      }
    }
  }
  EXPECT_GT(tried, 100);
}

}  // namespace
}  // namespace infold::train
