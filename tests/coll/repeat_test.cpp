// The same collective takes the same time again, to the picosecond, whatever ran before it on the machine.
//
// L2 is emptied before each measurement (MemorySystem::forget), and the buffers are the same each time, so
// that caches and memories begin alike. All that is moved fits L2, so no write waits at a memory either.
#include "coll/algo/algorithms.h"
#include "coll/engine/execution.h"

namespace infold::coll {
namespace {

class Repeat : public testing::TestWithParam<std::string> {
 protected:
  Repeat() {
    for (int gpu = 0; gpu < machine.gpus(); ++gpu) gpus.push_back(gpu);
  }
  static gpu::MachineSpec machine_spec() {
    gpu::MachineSpec spec;
    spec.gpus = 8;
    spec.fabric.planes = 4;
    spec.gpu.l2.capacity = 64_MiB;
    spec.gpu.engine.reply_jitter = 300_ns;
    return spec;
  }
  Program compiled(const std::string& algorithm, sim::Bytes bytes) {
    Tuning tuning;
    tuning.channels = 4;
    tuning.nvls.channels = 4;
    return compile(*find_algorithm(algorithm), {.collective = Collective::kAllReduce,
                                                .bytes = bytes,
                                                .gpus = gpus,
                                                .fabric = &machine.blueprint(),
                                                .tuning = tuning});
  }
  /// Runs a collective on the idle machine; returns how long each rank took.
  std::vector<sim::Time> run(const Program& program, Buffers& buffers) {
    for (const int gpu : gpus) machine.gpu(gpu).core().memory().forget();
    Execution::Options options;
    options.buffers = &buffers;
    Execution execution(machine, program, gpus, options);
    const sim::Time now = machine.events().now();
    for (const int rank : gpus) execution.enqueue(rank, now);
    machine.events().run();
    EXPECT_TRUE(execution.done());
    EXPECT_TRUE(machine.quiet());
    EXPECT_EQ(machine.signals().used(), 0u) << "flags are given back when the last has been seen";
    std::vector<sim::Time> took;
    for (const int rank : gpus) took.push_back(execution.finished(rank) - now);
    return took;
  }

  gpu::Machine machine{gpu::MachinePlan::make(machine_spec()).value(), {.burst = {}, .in_network = true}};
  std::vector<int> gpus;
};

TEST_P(Repeat, TakesTheSameTimeWhateverRanBefore) {
  const Program program = compiled(GetParam(), 400'000_B);
  Buffers buffers(machine, gpus, buffers_for(program));
  const std::vector<sim::Time> first = run(program, buffers);
  EXPECT_EQ(run(program, buffers), first) << "again at once";
  // Others in between, of other sizes, with buffers of their own.
  std::int64_t bytes = 40'000;
  for (const char* other : {"ring", "inc-push", "tree", "nvls", "inc-pull"}) {
    const Program between = compiled(other, sim::Bytes{bytes += 23'456});
    Buffers elsewhere(machine, gpus, buffers_for(between));
    run(between, elsewhere);
    EXPECT_EQ(run(program, buffers), first) << "after " << other;
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Repeat, testing::Values("ring", "tree", "nvls", "inc-push", "inc-pull"),
                         [](const auto& algorithm) {
                           std::string name = algorithm.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace infold::coll
