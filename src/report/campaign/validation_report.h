// Published figures against simulated ones: as a table, as JSON, and as the page docs/validation.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/validation.h"

namespace infold::report {

struct ValidationReport {
  const std::vector<study::ValidationRow>& rows;
  const study::Comparisons& comparisons;
};

std::string validation_text(const ValidationReport& report);
std::string validation_json(const ValidationReport& report);
std::string validation_markdown(const ValidationReport& report,
                                const std::vector<study::CalibratedConstant>& constants);

std::string sensitivity_text(const ValidationReport& report, const std::vector<study::Sensitivity>& moved);
std::string sensitivity_json(const ValidationReport& report, const std::vector<study::Sensitivity>& moved);

/// The number that a JSON pointer leads to; nothing if the text is not JSON or has no such number.
std::optional<double> number_at(std::string_view json, const std::string& pointer);

}  // namespace infold::report
