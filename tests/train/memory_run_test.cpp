// The memory of activations that is reported against what was there while a step ran.
#include "pipeline_help.h"
#include "support/live_memory.h"
#include "support/pipeline_run.h"

namespace infold::train {
namespace {

using namespace help;

TEST(MemoryRun, ActivationsOfAPipelineAreNeverAboveWhatIsReported) {
  gpu::MachineSpec machine;
  machine.gpus = 4;
  machine.gpu.sms = 16;
  coll::Tuning tuning;
  tuning.channels = 2;
  tuning.threads = 64;
  const auto on = gpu::MachinePlan::make(machine).value();
  for (const auto& kind : kScheduleNames) {
    for (const int stages : {2, 4}) {
      for (const int m : {2, 8}) {
        const PipelineSpec spec{.schedule = kind.value,
                                .micro_batches = m,
                                .virtual_stages = kind.value == ScheduleKind::kInterleaved ? 2 : 1};
        if (!check_pipeline(spec, stages)) continue;
        const auto plan =
            plan_pipeline(transformer(8), {.batch = 2, .numbers = Numbers::kBf16}, spec, stages).value();
        const infold::help::PipelineRun run(on, tuning,
                                            write_pipeline({.plan = plan, .layout = {.pp = stages}}));
        for (int stage = 0; stage < stages; ++stage) {
          const infold::help::LiveMemory live(run.runtime(), stage);
          EXPECT_GT(live.most(), 0);
          EXPECT_LE(live.most(), memory_need(plan, stage).passing.count())
              << kind.name << " stage " << stage << " of " << stages << ", " << m << " micro-batches";
        }
      }
    }
  }
}

}  // namespace
}  // namespace infold::train
