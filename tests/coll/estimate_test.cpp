// The estimate against the simulation of packets where latency alone counts: every way that a slice, its
// acknowledgement and its flags go must be in it.
#include "coll/tune/estimate.h"

#include "coll/engine/execution.h"
#include "support/small_program.h"

namespace infold::coll {
namespace {

/// Two GPUs whose link takes longer than all the rest together.
gpu::MachineSpec far_apart() {
  gpu::MachineSpec spec;
  spec.gpus = 2;
  spec.fabric.link.latency = 20_us;
  return spec;
}

struct Times {
  double estimated;  // in microseconds
  double simulated;
};

Times times(int slices) {
  const gpu::MachinePlan plan = gpu::MachinePlan::make(far_apart()).value();
  const Program program = help::sends(slices);
  const std::vector<int> gpus{0, 1};
  const sim::Time estimate = Estimator(plan.spec(), plan.blueprint(), plan.routes()).time(program, gpus);
  gpu::Machine machine(plan, {});
  Execution execution(machine, program, gpus, {.values = nullptr, .trace = nullptr, .rank_done = {}});
  for (const int rank : {0, 1}) execution.enqueue(rank, 0_us);
  machine.events().run();
  const sim::Time end = sim::max(execution.finished(0), execution.finished(1));
  return {estimate.in_s() * 1e6, end.in_s() * 1e6};
}

TEST(Estimate, ASliceGoesThereIsAcknowledgedAndAnnounced) {
  const Times one = times(1);
  EXPECT_GT(one.simulated, 3 * 40) << "three ways of two cables each";
  EXPECT_NEAR(one.estimated, one.simulated, 0.02 * one.simulated);
}

// The receive buffer has four slots, so every fifth slice waits until the flag that gives the first one's
// back has come all the way.
TEST(Estimate, ASenderWaitsForTheWayBackOfTheFlagThatFreesASlot) {
  const Times four = times(4);
  const Times eight = times(8);
  const double simulated = eight.simulated - four.simulated;
  EXPECT_GT(simulated, 4 * 40) << "data, acknowledgement, flag, and the flag back";
  EXPECT_NEAR(eight.estimated - four.estimated, simulated, 0.02 * simulated);
}

}  // namespace
}  // namespace infold::coll
