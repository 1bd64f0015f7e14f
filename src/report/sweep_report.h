// A finished sweep as CSV, as JSON and as a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/sweep_table.h"
#include "study/campaign/sweep.h"

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

struct NoColumn {
  std::size_t index = 0;  ///< in the sweep's list of what to show
  std::string why;
};
/// The first column to show that no result has. Unless the table is complete, one that only some results have
/// may still come.
std::optional<NoColumn> refuse_show(const study::Sweep& sweep, const SweepTable& table, bool complete);

}  // namespace infold::report
