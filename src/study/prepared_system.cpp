// Checks that concern more than one parameter.
#include "study/prepared_system.h"

#include <fmt/format.h>

#include <utility>

#include "coll/program/chunking.h"
#include "gpu/gpu_check.h"

namespace infold::study {

namespace {

/// Checks everything but the machine.
sim::Status check_settings(const SystemSpec& system) {
  const coll::Tuning& c = system.coll;
  if (c.slice_steps > c.buffer_steps) {
    return sim::fail(
        fmt::format("a slice of {} steps does not fit a buffer of {}", c.slice_steps, c.buffer_steps),
        "coll.slice_steps");
  }
  // In a ring every rank first sends a chunk and then waits for room to pass on what came in. If a chunk
  // fills the buffer, no rank ever has that room.
  if (const int slots = coll::buffer_slots(c); slots <= c.slices_per_chunk) {
    return sim::fail(
        fmt::format("a chunk of {} slices must leave room in the buffer, which holds {} (buffer_steps / "
                    "slice_steps)",
                    c.slices_per_chunk, slots),
        "coll.slices_per_chunk");
  }
  for (const coll::Protocol p : {coll::Protocol::kLl, coll::Protocol::kLl128}) {
    if (coll::for_protocol(c, p).buffer > sim::Bytes{}) continue;
    const gpu::Encoding e = coll::encoding_of(p);
    return sim::fail(fmt::format("a step of it (buffer / buffer_steps) must hold the {} bytes that a warp "
                                 "stores at once",
                                 e.wire(sim::Bytes{e.access}).count()),
                     fmt::format("coll.{}.buffer", sim::name_of(p)));
  }
  if (c.channels > system.machine.gpu.sms) {
    return sim::fail(
        fmt::format("{} channels need an SM each, and the GPU has {}", c.channels, system.machine.gpu.sms),
        "coll.channels");
  }
  if (auto ok = gpu::check(system.machine.gpu); !ok)
    return sim::fail(ok.error().message, fmt::format("gpu.{}", ok.error().parameter));
  return {};
}

}  // namespace

sim::Result<SystemPtr> PreparedSystem::make(SystemSpec spec, const sim::GoOn& go_on) {
  if (auto ok = check_settings(spec); !ok) return sim::fail(ok.error());
  auto plan = gpu::MachinePlan::make(spec.machine, go_on);
  if (!plan) return sim::fail(plan.error());
  return SystemPtr(new PreparedSystem(std::move(spec), *std::move(plan)));
}

}  // namespace infold::study
