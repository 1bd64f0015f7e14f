// How a program is cut for the engine that will run it: an engine's own numbers of channels and sizes take
// the place of the library's settings.
#pragma once

#include "coll/algo/algorithms.h"
#include "coll/program/program.h"
#include "gpu/gpu_spec.h"
#include "sim/result.h"

namespace infold::coll {

/// The settings in force with a protocol on an engine.
Tuning tuning_for(const Tuning& settings, Protocol protocol, Engine engine, const gpu::GpuSpec& gpu);

/// As compile(), for a request whose tuning is tuning_for()'s. On the accelerator the receive buffers of all
/// connections share its memory, so the more there are, the shorter they get.
Program compile_on(const Algorithm& algorithm, Request request, const gpu::GpuSpec& gpu);

/// The most connections that end at one rank, over all channels.
int connections_into_a_rank(const Program& program);

/// Whether an engine knows a protocol.
sim::Status check_protocol(Engine engine, Protocol protocol);

/// Whether an engine can carry out a program.
sim::Status check_engine(const Program& program, const gpu::GpuSpec& gpu);

}  // namespace infold::coll
