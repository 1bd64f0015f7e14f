// How a program is cut for the engine that will run it: the engine's own numbers of channels and sizes
// replace the settings of the library.
#pragma once

#include "coll/algo/algorithms.h"
#include "coll/program/program.h"
#include "gpu/gpu_spec.h"
#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::coll {

/// The settings that apply to a protocol on an engine.
Tuning tuning_for(const Tuning& settings, Protocol protocol, Engine engine, const gpu::GpuSpec& gpu);

/// Like compile(), for a request whose tuning is that of tuning_for(). On the accelerator the receive buffers
/// of all connections share its memory, so the more connections there are, the shorter the buffers.
Program compile_on(const Algorithm& algorithm, Request request, const gpu::GpuSpec& gpu);

/// The most connections that end at one rank, over all channels; no matter which number when `go_on` says no.
int connections_into_a_rank(const Program& program, const sim::GoOn& go_on = {});

/// Checks whether an engine knows a protocol.
sim::Status check_protocol(Engine engine, Protocol protocol);

/// Checks whether an engine can carry out a program.
sim::Status check_engine(const Program& program, const gpu::GpuSpec& gpu);

}  // namespace infold::coll
