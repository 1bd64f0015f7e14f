// The checks that concern more than one parameter.
#include "study/check.h"

#include <fmt/format.h>

#include "gpu/machine.h"

namespace infold::study {

std::optional<sim::Refusal> check(const SystemSpec& system) {
  const coll::Tuning& c = system.coll;
  if (c.slice_steps > c.buffer_steps) {
    return sim::Refusal{"coll.slice_steps", fmt::format("a slice of {} steps does not fit a buffer of {}", c.slice_steps,
                                                        c.buffer_steps)};
  }
  if (c.slices_per_chunk >= c.buffer_steps / c.slice_steps) {
    return sim::Refusal{"coll.slices_per_chunk",
                        fmt::format("a chunk of {} slices would fill the buffer, which holds {}; ranks that pass chunks on would "
                                    "wait for each other for ever",
                                    c.slices_per_chunk, c.buffer_steps / c.slice_steps)};
  }
  if (c.channels > system.machine.gpu.sms) {
    return sim::Refusal{"coll.channels", fmt::format("{} channels need an SM each, and the GPU has {}", c.channels,
                                                     system.machine.gpu.sms)};
  }
  return gpu::Machine::check(system.machine);
}

}  // namespace infold::study
