// Element types and their arithmetic are those of sim/dtype.h, by their names here.
#pragma once

#include "sim/dtype.h"

namespace infold::coll {

using sim::DataType;
using sim::divide;
using sim::fold;
using sim::kDataTypeNames;
using sim::kReduceOpNames;
using sim::load;
using sim::ReduceOp;
using sim::rounding_of;
using sim::size_of;
using sim::store;

}  // namespace infold::coll
