// Programs of ours as XML of MSCCL.
#pragma once

#include <string>

#include "coll/program/fit.h"
#include "sim/result.h"

namespace infold::formats {

/// A channel becomes a threadblock. Refuses what a threadblock of MSCCL cannot do: several peers, stores into
/// other ranks' outputs, switches that reduce, flags without data.
sim::Result<std::string> to_msccl(const coll::OwnProgram& own);

}  // namespace infold::formats
