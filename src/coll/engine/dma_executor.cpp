// Each channel has a path: the engine that it begins with, its stream of adding kernels, and its room for
// sums.
#include "coll/engine/dma_executor.h"

#include "coll/program/chunking.h"

namespace infold::coll {

DmaExecutor::DmaExecutor(ExecutorContext context) : EngineExecutor(std::move(context), sim::Time{}) {}

gpu::DataPath& DmaExecutor::take_path(int rank, int channel) {
  const Program& program = context().program;
  const Tuning& tuning = program.tuning;
  gpu::Gpu& gpu = context().gpu(rank);
  const sim::Bytes slot = max_slice(tuning);
  const int slots = buffer_slots(tuning);
  const std::size_t stream =
      context().stream * static_cast<std::size_t>(program.channels) + static_cast<std::size_t>(channel);
  const gpu::DmaPath::Setup setup{.first_engine = static_cast<std::size_t>(channel),
                                  .gpus = context().machine.gpus(),
                                  .network = context().network(),
                                  .stream = gpu.adding_stream(stream),
                                  .workgroups = tuning.add_workgroups,
                                  .threads = tuning.threads,
                                  .window = tuning.in_flight_per_thread * tuning.threads,
                                  .burst = context().machine.options().burst,
                                  .sums = context().buffers.sums(rank, channel, slot * slots),
                                  .slot = slot,
                                  .slots = slots,
                                  .functional = context().values != nullptr};
  paths_.push_back(std::make_unique<gpu::DmaPath>(gpu, setup));
  return *paths_.back();
}

}  // namespace infold::coll
