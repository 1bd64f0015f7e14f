// Start and end of a rank's workgroups.
#include "coll/engine/sm_executor.h"

namespace infold::coll {

SmExecutor::SmExecutor(ExecutorContext context)
    : context_(std::move(context)),
      connection_set_(context_, *this),
      workgroups_(connection_set_.channels()) {
  for (int rank = 0; rank < context_.program.ranks; ++rank) kernels_.emplace_back(*this, rank);
}

void SmExecutor::enqueue(int rank, sim::Time at) {
  gpu::Gpu& gpu = context_.gpu(rank);
  gpu::Launch launch;
  launch.work = &kernels_[static_cast<std::size_t>(rank)];
  launch.workgroups = context_.program.channels;
  launch.footprint.threads = context_.program.tuning.threads;
  launch.footprint.whole_sm = true;
  launch.actor = gpu::Actor::kCollective;
  gpu.core().dispatcher().enqueue(gpu.communication_stream(context_.stream), launch, at);
}

/// A workgroup has an SM; it begins to move data when it has set itself up.
void SmExecutor::workgroup_started(int rank, int channel, int sm) {
  gpu::Machine& machine = context_.machine;
  const Tuning& tuning = context_.program.tuning;
  const sim::Bytes window = tuning.in_flight_per_thread * tuning.threads;
  const std::size_t index = connection_set_.index_of(rank, channel);
  const sim::Time now = machine.events().now();
  gpu::CopyPipeline& pipeline =
      context_.gpu(rank).take_workgroup(window, machine.options().burst, context_.network());
  workgroups_[index] = {&pipeline, sm, now};
  machine.events().schedule(now + machine.spec().gpu.launch, sim::Priority::kWork, *this,
                            static_cast<std::uint32_t>(index));
}

void SmExecutor::handle(std::uint32_t workgroup) {
  ChannelProtocol& channel = connection_set_.channel(workgroup);
  channel.start(context_.gpu(channel.rank()), *workgroups_[workgroup].pipeline);
}

void SmExecutor::channel_done(ChannelProtocol& channel) {
  const Workgroup& w = workgroups_[connection_set_.index_of(channel.rank(), channel.channel())];
  residency_.resident += context_.machine.events().now() - w.started;
  residency_.waiting += channel.waited();
  gpu::Gpu& gpu = context_.gpu(channel.rank());
  gpu.release_workgroup(*w.pipeline);
  gpu.core().dispatcher().workgroup_done(kernels_[static_cast<std::size_t>(channel.rank())].id(), w.sm);
}

}  // namespace infold::coll
