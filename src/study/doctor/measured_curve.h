// What was measured on a machine: the times of one collective by size.
#pragma once

#include <vector>

#include "coll/dtype.h"
#include "coll/program/collective.h"
#include "sim/units.h"

namespace infold::study {

struct MeasuredPoint {
  sim::Bytes bytes;
  double us = 0;
};

struct MeasuredCurve {
  coll::Collective collective = coll::Collective::kAllReduce;
  coll::DataType type = coll::DataType::kFp32;
  coll::ReduceOp op = coll::ReduceOp::kSum;
  int root = 0;
  int gpus = 0;
  std::vector<MeasuredPoint> points;  ///< in ascending order of size
};

}  // namespace infold::study
