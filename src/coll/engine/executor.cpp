// The table of executors.
#include "coll/engine/executor.h"

#include <fmt/format.h>

#include "coll/engine/ace_executor.h"
#include "coll/engine/dma_executor.h"
#include "coll/engine/sm_executor.h"
#include "coll/in_network/in_network_executor.h"
#include "coll/in_network/nvls_executor.h"
#include "sim/check.h"

namespace infold::coll {

int ExecutorContext::network() const {
  return static_cast<int>(stream) % machine.network().traits().networks;
}

void ExecutorContext::enqueue_on_engine(int rank, gpu::Work& work, sim::Time at) const {
  gpu::Launch launch;
  launch.work = &work;
  launch.workgroups = 0;
  launch.actor = gpu::Actor::kCollective;
  gpu(rank).core().dispatcher().enqueue(gpu(rank).communication_stream(stream), launch, at);
}

sim::TraceRecorder::TrackId ExecutorContext::trace_track(int rank, const std::string& label) const {
  return trace->track(trace->group(machine.network().name(gpu(rank).id())),
                      stream == 0 ? label : fmt::format("stream {} {}", stream + 1, label));
}

std::unique_ptr<Executor> make_executor(ExecutorContext context) {
  switch (context.program.engine) {
    case Engine::kSm:
      if (context.program.in_network()) return std::make_unique<NvlsExecutor>(std::move(context));
      return std::make_unique<SmExecutor>(std::move(context));
    case Engine::kDma:
      return std::make_unique<DmaExecutor>(std::move(context));
    case Engine::kAce: {
      const sim::Time start = context.machine.spec().gpu.ace.start;
      return std::make_unique<AceExecutor>(std::move(context), start);
    }
    case Engine::kCollectiveEngine:
      return std::make_unique<InNetworkExecutor>(std::move(context));
  }
  INFOLD_CHECK(false, "make_executor knows every engine");
  return nullptr;
}

}  // namespace infold::coll
