// The comparison of two levels of fidelity as a table and as JSON.
#pragma once

#include <span>
#include <string>

#include "study/ladder.h"

namespace infold::report {

std::string ladder_text(std::span<const study::LadderRow> rows);
std::string ladder_json(std::span<const study::LadderRow> rows);

}  // namespace infold::report
