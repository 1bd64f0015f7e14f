// Start and end of a rank's workgroups.
#include "coll/engine/sm_executor.h"

namespace infold::coll {

SmExecutor::SmExecutor(ExecutorContext context)
    : context_(std::move(context)), connection_set_(context_, *this), pipelines_(connection_set_.channels()) {
  for (int rank = 0; rank < context_.program.ranks; ++rank) kernels_.emplace_back(*this, context_, rank);
}

void SmExecutor::enqueue(int rank, sim::Time at) {
  kernels_[static_cast<std::size_t>(rank)].enqueue(context_.program.tuning.threads, at);
}

/// A workgroup has an SM; it begins to move data when it has set itself up.
void SmExecutor::workgroup_started(int rank, int channel) {
  gpu::Machine& machine = context_.machine;
  const Tuning& tuning = context_.program.tuning;
  const sim::Bytes window = tuning.in_flight_per_thread * tuning.threads;
  const std::size_t index = connection_set_.index_of(rank, channel);
  pipelines_[index] = &context_.gpu(rank).take_workgroup(window, machine.options().burst, context_.network());
  machine.events().schedule(machine.events().now() + machine.spec().gpu.launch, sim::Priority::kWork, *this,
                            static_cast<std::uint32_t>(index));
}

void SmExecutor::handle(std::uint32_t workgroup) {
  ChannelProtocol& channel = connection_set_.channel(workgroup);
  channel.start(context_.gpu(channel.rank()), *pipelines_[workgroup]);
}

void SmExecutor::channel_done(ChannelProtocol& channel) {
  const int rank = channel.rank();
  WorkgroupKernel& kernel = kernels_[static_cast<std::size_t>(rank)];
  residency_.resident += kernel.held(channel.channel());
  residency_.waiting += channel.waited();
  context_.gpu(rank).release_workgroup(*pipelines_[connection_set_.index_of(rank, channel.channel())]);
  kernel.workgroup_done(channel.channel());
}

}  // namespace infold::coll
