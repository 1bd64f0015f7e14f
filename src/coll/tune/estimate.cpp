// An estimate runs one fluid simulation.
#include "coll/tune/estimate.h"

#include "coll/tune/fluid_simulation.h"

namespace infold::coll {

sim::Time Estimator::time(const Program& program, std::span<const int> gpus, sim::Time limit,
                          const std::function<bool()>& keep_going) const {
  return FluidSimulation(machine_, fabric_, routes_, program, gpus).run(limit, keep_going);
}

}  // namespace infold::coll
