// Recomputation in backward of what forward did not keep.
#pragma once

#include "train/plan.h"

namespace infold::train {

/// Removes recomputed kernels whose results no kernel reads: the end of a repetition is needed by the next
/// one only, which keeps it.
void drop_unread(Plan& plan);

}  // namespace infold::train
