// A system that is known to make sense: its settings agree, and its machine is drawn, routed and proved free
// of deadlock. Jobs carry one, so that whatever they need of the machine is there and is not made again.
#pragma once

#include <memory>

#include "gpu/machine_plan.h"
#include "sim/go_on.h"
#include "sim/result.h"
#include "study/system_spec.h"

namespace infold::study {

class PreparedSystem;
/// Never null in a job that is run; what it points to never changes.
using SystemPtr = std::shared_ptr<const PreparedSystem>;

/// Reads like the spec it was made of.
class PreparedSystem final : public SystemSpec {
 public:
  /// The only way to have one. An error says what stands in the way and which parameter to look at.
  static sim::Result<SystemPtr> make(SystemSpec spec, const sim::GoOn& go_on = {});

  const gpu::MachinePlan& plan() const { return plan_; }

 private:
  PreparedSystem(SystemSpec spec, gpu::MachinePlan plan)
      : SystemSpec(std::move(spec)), plan_(std::move(plan)) {}
  gpu::MachinePlan plan_;
};

}  // namespace infold::study
