// Element types and their arithmetic are those of the switches' ALUs (inc/dtype.h), by their names here.
#pragma once

#include "inc/dtype.h"

namespace infold::coll {

using inc::DataType;
using inc::divide;
using inc::fold;
using inc::kDataTypeNames;
using inc::kReduceOpNames;
using inc::load;
using inc::ReduceOp;
using inc::rounding_of;
using inc::size_of;
using inc::store;

}  // namespace infold::coll
