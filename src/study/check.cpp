// The checks that concern more than one parameter.
#include "study/check.h"

#include <fmt/format.h>

#include "coll/program/chunking.h"
#include "gpu/gpu_check.h"
#include "gpu/machine.h"

namespace infold::study {

std::optional<sim::Refusal> check(const SystemSpec& system) {
  const coll::Tuning& c = system.coll;
  if (c.slice_steps > c.buffer_steps) {
    return sim::Refusal{"coll.slice_steps", fmt::format("a slice of {} steps does not fit a buffer of {}",
                                                        c.slice_steps, c.buffer_steps)};
  }
  // Round a ring everybody first sends a chunk and then waits for room to pass on what came in: if a chunk
  // fills the buffer nobody ever has that room.
  if (const int slots = coll::buffer_slots(c); slots <= c.slices_per_chunk) {
    return sim::Refusal{
        "coll.slices_per_chunk",
        fmt::format("a chunk of {} slices must leave room in the buffer, which holds {} (buffer_steps / "
                    "slice_steps)",
                    c.slices_per_chunk, slots)};
  }
  for (const coll::Protocol p : {coll::Protocol::kLl, coll::Protocol::kLl128}) {
    if (coll::for_protocol(c, p).buffer > sim::Bytes{}) continue;
    const gpu::Encoding e = coll::encoding_of(p);
    return sim::Refusal{fmt::format("coll.{}.buffer", sim::name_of(p)),
                        fmt::format("a step of it (buffer / buffer_steps) must hold the {} bytes that a warp "
                                    "stores at once",
                                    e.wire(sim::Bytes{e.access}).count())};
  }
  if (c.channels > system.machine.gpu.sms) {
    return sim::Refusal{"coll.channels", fmt::format("{} channels need an SM each, and the GPU has {}",
                                                     c.channels, system.machine.gpu.sms)};
  }
  if (auto refusal = gpu::check(system.machine.gpu)) {
    return sim::Refusal{fmt::format("gpu.{}", refusal->path), refusal->why};
  }
  return gpu::Machine::check(system.machine);
}

}  // namespace infold::study
