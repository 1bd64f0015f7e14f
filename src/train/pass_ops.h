// Which ops of a plan a pass of a schedule runs.
#pragma once

#include <vector>

#include "train/plan.h"
#include "train/schedule/schedule.h"

namespace infold::train {

/// The ops, by their number in the plan, in order.
std::vector<int> pass_ops(const Plan& plan, PassKind kind);

}  // namespace infold::train
