// The launch of communication workgroups, and the SMs that they hold.
#include "coll/engine/workgroup_kernel.h"

namespace infold::coll {

WorkgroupKernel::WorkgroupKernel(Owner& owner, const ExecutorContext& context, int rank)
    : owner_(owner),
      context_(context),
      rank_(rank),
      workgroups_(static_cast<std::size_t>(context.program.channels)) {}

void WorkgroupKernel::enqueue(int threads, sim::Time at) {
  gpu::Gpu& gpu = context_.gpu(rank_);
  gpu::Launch launch;
  launch.work = this;
  launch.workgroups = context_.program.channels;
  launch.footprint.threads = threads;
  launch.footprint.whole_sm = true;
  launch.actor = gpu::Actor::kCollective;
  gpu.core().dispatcher().enqueue(gpu.communication_stream(context_.stream), launch, at);
}

void WorkgroupKernel::start(int channel, int sm) {
  workgroups_[static_cast<std::size_t>(channel)] = {sm, context_.machine.events().now()};
  owner_.workgroup_started(rank_, channel);
}

sim::Time WorkgroupKernel::held(int channel) const {
  return context_.machine.events().now() - workgroups_[static_cast<std::size_t>(channel)].started;
}

void WorkgroupKernel::workgroup_done(int channel) {
  const int sm = workgroups_[static_cast<std::size_t>(channel)].sm;
  context_.gpu(rank_).core().dispatcher().workgroup_done(id_, sm);
}

}  // namespace infold::coll
