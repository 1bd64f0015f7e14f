// The causes of what communication costs a step, and what is said of them.
#include "study/step/explain_run.h"

#include <rapidcheck/gtest.h>

#include <cmath>

#include "step_help.h"
#include "study/step/explain_words.h"

namespace infold::study {
namespace {

using namespace sim::literals;

/// Blocks that are gathered and scattered one by one.
train::Graph blocks_of(int width, int count) {
  train::Linear linear;
  linear.out = width;
  train::Model m;
  m.input.features = width;
  m.layers = {train::Node{train::Repeat{count,
                                        {train::Node{train::Layer{linear}, {}},
                                         train::Node{train::Layer{train::Activation{}}, {}}}},
                          {}},
              train::Node{train::Layer{train::Loss{}}, {}}};
  return train::build_graph(m).value();
}

double sum_of(const Causes& causes) {
  double sum = 0;
  for (const CausePart& p : causes.parts) sum += p.slowdown;
  return sum;
}

double part_of(const Causes& causes, Cause cause) {
  for (const CausePart& p : causes.parts) {
    if (p.cause == cause) return p.slowdown;
  }
  ADD_FAILURE() << "there is no " << sim::name_of(cause);
  return 0;
}

RC_GTEST_PROP(ExplainProperty, CausesAddUpToTheWhole, ()) {
  SmallStep step(*rc::gen::inRange(64, 700), 512);
  step.job.overlap = *rc::gen::element(true, true, true, false);
  step.job.core.contention.sm = *rc::gen::element(true, true, false);
  step.job.sync.kind = *rc::gen::element(train::SyncKind::kDdp, train::SyncKind::kFsdp);
  if (*rc::gen::arbitrary<bool>()) step.job.delays = skewed(4, sim::Time::us(100), 3);
  const auto e = run(ExplainJob{step.job, 2}, {}).value();
  for (const Causes* causes : {&e.step, &e.forward, &e.backward}) {
    RC_ASSERT(std::abs(sum_of(*causes) - causes->slowdown) < 1e-9);
    RC_ASSERT(part_of(*causes, Cause::kBubble) == 0);
    if (step.job.sync.kind == train::SyncKind::kDdp) RC_ASSERT(part_of(*causes, Cause::kLink) == 0);
    if (step.job.delays.empty()) RC_ASSERT(part_of(*causes, Cause::kSkew) == 0);
    if (!step.job.core.contention.sm) RC_ASSERT(part_of(*causes, Cause::kSm) == 0);
  }
  for (const KernelCauses& k : e.kernels) RC_ASSERT(std::abs(sum_of(k.causes) - k.causes.slowdown) < 1e-9);
  RC_ASSERT(std::abs(e.backward.slowdown - e.result.slowdown()) < 1e-6);
  RC_ASSERT(std::abs(e.forward.slowdown - e.result.forward_slowdown()) < 1e-6);
}

/// Eight blocks whose weights are gathered and whose gradients are reduced and scattered.
struct ShardedStep : SmallStep {
  ShardedStep() {
    graph = blocks_of(704, 8);
    job.sync.kind = train::SyncKind::kFsdp;
  }
};

TEST(Explain, ShardedStepsWaitInForward) {
  ShardedStep step;
  const auto e = run(ExplainJob{step.job, 2}, {}).value();
  EXPECT_TRUE(e.links_are_shared());
  EXPECT_GT(part_of(e.forward, Cause::kWait), 0);
  sim::Time in_forward;
  for (const CommunicationUse& c : e.result.communication) {
    EXPECT_LE(c.exposed_in_forward + c.exposed_in_backward, c.exposed);
    in_forward += c.exposed_in_forward;
  }
  EXPECT_GT(in_forward, 0_ns);
}

/// Weights are copied out of what was gathered, gradients into what is reduced. Nothing of that is waiting.
TEST(Explain, ShardedStepsCopy) {
  ShardedStep step;
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  const StepResult r = step.result();
  EXPECT_GT(r.copied.forward, 0_ns);
  EXPECT_GT(r.copied.backward, 0_ns);
  EXPECT_LE(r.copied.forward + r.copied.backward, r.copied.step);
  // What shares nothing runs as fast as alone, so waiting and copying are all that is left, but for the phase
  // in which kernels meet the memory's writes.
  sim::Time in_forward;
  for (const CommunicationUse& c : r.communication) in_forward += c.exposed_in_forward;
  const double longer = (r.forward - r.alone.times.forward()).in_s();
  EXPECT_LE(longer, (in_forward + r.copied.forward).in_s() + 0.02 * r.forward.in_s());
  EXPECT_GE(longer, r.copied.forward.in_s() - 0.02 * r.forward.in_s());
}

/// Gathers of the next weights and reductions of the last gradients are under way at once.
TEST(Explain, CommunicatorsTakeLinksFromEachOther) {
  ShardedStep step;
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = true};
  const StepResult shared = step.result();
  ASSERT_GT(shared.together, 0_ns);
  step.job.core.contention.link = false;
  const StepResult apart = step.result();
  EXPECT_LT(apart.end, shared.end);
  EXPECT_EQ(apart.link_bytes, shared.link_bytes);
}

TEST(Explain, LinksOfTheirOwnChangeNothingForOneCommunicator) {
  SmallStep step;
  step.job.core.contention = {.sm = false, .l2 = true, .hbm = true, .link = true};
  const StepResult one = step.result();
  step.job.core.contention.link = false;
  EXPECT_EQ(step.result().end, one.end);
  EXPECT_EQ(one.together, 0_ns);
  step.job.core.contention = {.sm = true, .l2 = true, .hbm = true, .link = false};
  EXPECT_NE(why(run(step.job, {})).find("nothing shares links here"), std::string::npos);
}

TEST(Explain, SaysItInOneSentence) {
  ExplainResult e;
  StepResult& r = e.result;
  r.end = sim::Time::us(1200);
  r.alone.times.optimizer_ended = sim::Time::us(1000);
  r.sms = 24;
  e.step = {0.2,
            {{Cause::kSm, 0.05}, {Cause::kHbm, 0.02}, {Cause::kWait, 0.14}, {Cause::kInteraction, -0.01}}};
  r.communication = {{.communicator = "gather dp",
                      .what = coll::Collective::kAllGather,
                      .algorithms = {"ring"},
                      .exposed = sim::Time::us(100)},
                     {.communicator = "scatter dp",
                      .what = coll::Collective::kReduceScatter,
                      .algorithms = {"ring"},
                      .exposed = sim::Time::us(40)}};
  EXPECT_EQ(in_words(e, 108),
            "Communication makes the step 20.0 % longer (1.200 instead of 1.000 ms): compute waits for it "
            "or starts late behind it (14.0 %), mostly for the ring all-gathers of data-parallel ranks; what "
            "runs beside it is slower (6.0 %), mostly because collectives hold 24 of 108 SMs.");
  e.step = {0.2, {{Cause::kHbm, 0.01}, {Cause::kWait, 0.01}, {Cause::kBubble, 0.18}}};
  EXPECT_EQ(in_words(e, 108),
            "Communication makes the step 20.0 % longer (1.200 instead of 1.000 ms): stages of the pipeline "
            "wait for each other (18.0 %).");
  e.step = {0.2, {{Cause::kHbm, 0.01}, {Cause::kCopy, 0.19}}};
  EXPECT_EQ(
      in_words(e, 108),
      "Communication makes the step 20.0 % longer (1.200 instead of 1.000 ms): data are copied into and out "
      "of its buffers (19.0 %).");
  e.step.slowdown = 0.001;
  r.communicating = sim::Time::us(500);
  r.waited = sim::Time::us(1);
  EXPECT_EQ(in_words(e, 108),
            "Communication hardly makes the step longer (+0.1 %): of 0.500 ms of it, 0.001 ms are exposed.");
}

TEST(Explain, NamesWhoCommunicates) {
  const auto words = [](const char* communicator, coll::Collective what) {
    return in_words(CommunicationUse{.communicator = communicator, .what = what, .algorithms = {"ring"}});
  };
  EXPECT_EQ(words("data parallel", coll::Collective::kAllReduce), "ring all-reduces of data-parallel ranks");
  EXPECT_EQ(words("tp", coll::Collective::kAllReduce), "ring all-reduces of tensor-parallel ranks");
  EXPECT_EQ(words("pp forward 0-1", coll::Collective::kSend), "ring sends between stages");
  EXPECT_EQ(words("ep", coll::Collective::kAllToAll), "ring all-to-alls of expert-parallel ranks");
}

}  // namespace
}  // namespace infold::study
