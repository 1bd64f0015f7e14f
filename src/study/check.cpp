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
  if (c.channels > system.machine.gpu.sms) {
    return sim::Refusal{"coll.channels", fmt::format("{} channels need an SM each, and the GPU has {}", c.channels,
                                                     system.machine.gpu.sms)};
  }
  return gpu::Machine::check(system.machine);
}

}  // namespace infold::study
