// Schedules on a machine: bubbles are those of the formulas, but for the time of sends.
#include "support/pipeline_run.h"

#include "train/model.h"

namespace infold::train {
namespace {

Graph gpt_blocks(int count, int width = 64) {
  Embedding words;
  words.rows = 100;
  words.width = width;
  Linear inner;
  inner.out = width;
  Branches block;
  block.body = {{Layer{LayerNorm{}}, {}}, {Layer{inner}, {}}};
  Linear last;
  last.out = 100;
  Model m;
  m.input.tokens = 64;
  m.layers = {{Layer{words}, {}}, {Repeat{count, {{block, {}}}}, {}}, {Layer{last}, {}}, {Layer{Loss{}}, {}}};
  return build_graph(m).value();
}

/// Every pass takes as long as its kind says, on a few SMs.
PipelineStep even(PipelineStep step, sim::Time chunk) {
  for (const PassOps& p : step.passes) {
    for (work::OpId op = p.first; op <= p.last; ++op) {
      if (std::holds_alternative<work::Kernel>(step.graph[op].what)) step.graph[op].what = work::Marker{};
    }
    const bool twice = p.pass.kind == PassKind::kBackward;
    step.graph[p.first].what = work::Timed{.time = twice ? chunk + chunk : chunk, .sms = 4, .bytes = {}};
  }
  for (work::Script& script : step.graph.scripts) {
    for (work::Stream& s : script.streams) {
      std::erase_if(s.ops, [&](work::OpId op) { return step.graph[op].updates; });
    }
  }
  return step;
}

struct Measured {
  double bubble = 0;  // of the ideal time
  std::uint64_t sent = 0;
};
Measured measure(ScheduleKind kind, int stages, int micro_batches, int chunks = 1) {
  gpu::MachineSpec machine;
  machine.gpus = 4;
  machine.gpu.sms = 16;
  coll::Tuning tuning;
  tuning.channels = 4;
  tuning.threads = 64;
  const auto plan = gpu::MachinePlan::make(machine).value();
  const auto pipeline =
      plan_pipeline(gpt_blocks(8), {.batch = 2, .numbers = Numbers::kBf16},
                    {.schedule = kind, .micro_batches = micro_batches, .virtual_stages = chunks}, stages)
          .value();
  const sim::Time chunk = sim::Time::us(6'000 / chunks);
  infold::help::PipelineRun run(plan, tuning,
                                even(write_pipeline({.plan = pipeline, .layout = {.pp = stages}}), chunk));
  Measured m;
  const double ideal = (chunk * 3 * chunks * micro_batches).in_s();
  m.bubble = run.passes().in_s() / ideal - 1;
  for (int r = 0; r < stages; ++r)
    m.sent += run.machine().network().payload_sent(static_cast<net::NodeId>(r));
  return m;
}

TEST(PipelineRun, BubblesAreThoseOfTheFormulas) {
  for (const int p : {2, 4}) {
    for (const int m : {4, 8}) {
      const double whole = static_cast<double>(p - 1) / m;
      EXPECT_NEAR(measure(ScheduleKind::kGpipe, p, m).bubble, whole, 0.02) << p << " " << m;
      EXPECT_NEAR(measure(ScheduleKind::k1f1b, p, m).bubble, whole, 0.02) << p << " " << m;
      EXPECT_NEAR(measure(ScheduleKind::kInterleaved, p, m, 2).bubble, whole / 2, 0.02) << p << " " << m;
      EXPECT_NEAR(measure(ScheduleKind::kZeroBubble, p, m).bubble, whole / 3, 0.02) << p << " " << m;
    }
  }
}

TEST(PipelineRun, SendsWhatTheFormulaSays) {
  const std::uint64_t activations = 2 * 64 * 64 * 2;  // batch, tokens, width, bytes
  EXPECT_EQ(measure(ScheduleKind::k1f1b, 4, 4).sent, 2 * 3 * 4 * activations);
  EXPECT_EQ(measure(ScheduleKind::kInterleaved, 4, 4, 2).sent, 2 * 7 * 4 * activations);
}

/// The blocks of GPT-2 small with short sequences and few words, so that stages take about as long as each
/// other.
struct Gpt2 {
  sim::Time passes;
  double idle = 0;  // against the stage that is busy longest
};
Gpt2 gpt2(ScheduleKind kind, int stages, int chunks = 1) {
  Embedding words;
  words.rows = 1'024;
  words.width = 768;
  AddEmbedding positions;
  Attention attention;
  attention.heads = 12;
  attention.causal = true;
  Linear up;
  up.out = 4 * 768;
  Linear down;
  down.out = 768;
  Branches first;
  first.body = {{Layer{LayerNorm{}}, {}}, {Layer{attention}, {}}};
  Branches second;
  second.body = {{Layer{LayerNorm{}}, {}}, {Layer{up}, {}}, {Layer{Activation{}}, {}}, {Layer{down}, {}}};
  Linear last;
  last.out = 1'024;
  last.bias = false;
  last.tied = true;
  Model m;
  m.input.tokens = 256;
  m.layers = {{Layer{words}, {}},       {Layer{positions}, {}}, {Repeat{12, {{first, {}}, {second, {}}}}, {}},
              {Layer{LayerNorm{}}, {}}, {Layer{last}, {}},      {Layer{Loss{}}, {}}};
  const Recipe recipe{.batch = 4, .numbers = Numbers::kBf16, .fusion = Fusion::kFused};
  const auto plan = plan_pipeline(build_graph(m).value(), recipe,
                                  {.schedule = kind, .micro_batches = 4, .virtual_stages = chunks}, stages)
                        .value();
  gpu::MachineSpec spec;
  spec.gpus = stages;
  const auto machine = gpu::MachinePlan::make(spec).value();
  const infold::help::PipelineRun run(machine, {}, write_pipeline({.plan = plan, .layout = {.pp = stages}}),
                                      sim::Bytes::kib(4));
  sim::Time busiest;
  for (int s = 0; s < stages; ++s) busiest = sim::max(busiest, run.busy(s));
  return {run.passes(), run.passes().in_s() / busiest.in_s() - 1};
}

TEST(PipelineRun, OfRealKernelsHasABubbleNearTheFormula) {
  for (const int p : {2, 4}) {
    const double formula = (p - 1) / 4.0;
    const Gpt2 gpipe = gpt2(ScheduleKind::kGpipe, p);
    const Gpt2 by_turns = gpt2(ScheduleKind::k1f1b, p);
    const Gpt2 interleaved = gpt2(ScheduleKind::kInterleaved, p, p == 2 ? 2 : 3);
    const Gpt2 zero = gpt2(ScheduleKind::kZeroBubble, p);
    // Sends take some of the time of passes as short as these: half a millisecond.
    EXPECT_NEAR(gpipe.idle, formula, 0.2 * formula) << p;
    EXPECT_NEAR(by_turns.idle, formula, 0.2 * formula) << p;
    EXPECT_LT(interleaved.idle, by_turns.idle) << p;
    EXPECT_LT(zero.idle, by_turns.idle) << p;
    EXPECT_LT(zero.passes, by_turns.passes) << p;
  }
}

}  // namespace
}  // namespace infold::train
