// A map of a sweep: which algorithm is the fastest, by size of the message and by what was varied.
#pragma once

#include <string>

#include "report/campaign/sweep_report.h"

namespace infold::report {

/// One line per setting, one column per size; each cell has the fastest algorithm and, where ring ran at the
/// same setting and is not the fastest, how many times as fast as ring it is. Empty if results have no
/// algorithms.
std::string winners_text(const SweepReport& report);

}  // namespace infold::report
