// A finished sweep as CSV, as JSON and as a table.
#pragma once

#include <optional>
#include <string>

#include "report/sweep_table.h"
#include "study/sweep.h"

namespace infold::report {

struct SweepReport {
  const study::Sweep& sweep;
  const SweepTable& table;
  std::string database;  ///< files, as the user named them
  std::string csv;
};

/// A header, and a line for each row; what varies first, then status and results.
std::string sweep_csv(const SweepReport& report);
std::string sweep_json(const SweepReport& report);
/// What was asked to be shown, and where the rest is.
std::string sweep_text(const SweepReport& report);

/// Why the columns to show can not be.
std::optional<std::string> refuse_show(const SweepReport& report);

}  // namespace infold::report
