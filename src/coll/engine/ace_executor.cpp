// State machines of the accelerators.
#include "coll/engine/ace_executor.h"

namespace infold::coll {

AceExecutor::AceExecutor(ExecutorContext c, sim::Time start)
    : EngineExecutor(std::move(c), start), paths_(context().program.lists.size()) {}

gpu::CopyPipeline*& AceExecutor::path(int rank, int channel) {
  return paths_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(context().program.channels) +
                static_cast<std::size_t>(channel)];
}

gpu::DataPath& AceExecutor::take_path(int rank, int channel) {
  const Tuning& tuning = context().program.tuning;
  path(rank, channel) = &context().gpu(rank).take_accelerator_path(
      tuning.in_flight_per_thread * tuning.threads, context().machine.options().burst, context().network());
  return *path(rank, channel);
}

void AceExecutor::release_path(int rank, int channel) {
  context().gpu(rank).release_accelerator_path(*path(rank, channel));
}

}  // namespace infold::coll
