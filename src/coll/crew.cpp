// The table of crews.
#include "coll/crew.h"

#include <fmt/format.h>

#include "coll/ace_crew.h"
#include "coll/dma_crew.h"
#include "coll/in_network_crew.h"
#include "coll/nvls_crew.h"
#include "coll/sm_crew.h"
#include "sim/check.h"

namespace infold::coll {

void CrewContext::enqueue_on_engine(int rank, gpu::Work& work, sim::Time at) const {
  gpu::Launch launch;
  launch.work = &work;
  launch.workgroups = 0;
  launch.actor = gpu::Actor::kCollective;
  gpu(rank).core().dispatcher().enqueue(gpu(rank).communication_stream(stream), launch, at);
}

sim::TraceRecorder::TrackId CrewContext::trace_track(int rank, const std::string& label) const {
  return trace->track(trace->group(machine.network().name(gpu(rank).id())),
                      stream == 0 ? label : fmt::format("stream {} {}", stream + 1, label));
}

std::unique_ptr<Crew> make_crew(CrewContext context) {
  switch (context.program.engine) {
    case Engine::kSm:
      if (context.program.in_network()) return std::make_unique<NvlsCrew>(std::move(context));
      return std::make_unique<SmCrew>(std::move(context));
    case Engine::kDma:
      return std::make_unique<DmaCrew>(std::move(context));
    case Engine::kAce: {
      const sim::Time start = context.machine.spec().gpu.ace.start;
      return std::make_unique<AceCrew>(std::move(context), start);
    }
    case Engine::kCollectiveEngine:
      return std::make_unique<InNetworkCrew>(std::move(context));
  }
  INFOLD_CHECK(false, "a program runs on an engine that there is (study::refuse)");
  return nullptr;
}

}  // namespace infold::coll
