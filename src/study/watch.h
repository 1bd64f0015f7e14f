// Chooses the counters of a machine that a trace samples.
#pragma once

#include <functional>

#include "gpu/machine.h"
#include "sim/sampler.h"
#include "sim/trace.h"

namespace infold::study {

/// Watches the SMs and the memory of one GPU, by actor. `computes` is the core that has done the compute work
/// of this GPU so far, which may be that of an equal GPU.
void watch_core(sim::Sampler& sampler, sim::TraceRecorder& trace, sim::TraceRecorder::TrackId group,
                const gpu::Core& core, const std::function<const gpu::Core&()>& computes);

/// Watches the links of the first `gpus` GPUs, and the reduction units of the switches if there are any.
void watch_network(sim::Sampler& sampler, sim::TraceRecorder& trace, const gpu::Machine& machine, int gpus);

/// Watches everything, for machines in which every GPU does its own work.
void watch_machine(sim::Sampler& sampler, sim::TraceRecorder& trace, gpu::Machine& machine, int gpus);

}  // namespace infold::study
