// A log of nccl-tests as curves that a system can be compared with.
#pragma once

#include <string>
#include <vector>

#include "formats/nccl_tests.h"
#include "sim/result.h"
#include "study/doctor/measured_curve.h"
#include "study/prepared_system.h"

namespace infold::cli {

struct MeasuredLog {
  std::vector<study::MeasuredCurve> curves;
  std::vector<std::string> notes;  ///< what is assumed of it, and what of it is not compared
};

/// `in_place`: takes the times of collectives in place. Refuses a log of several nodes, of more GPUs than the
/// system has, and one of which nothing can be compared.
sim::Result<MeasuredLog> curves_of(const formats::Measurements& measurements, const std::string& file,
                                   const study::PreparedSystem& system, bool in_place);

}  // namespace infold::cli
