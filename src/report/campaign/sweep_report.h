// A finished sweep as CSV, as JSON and as a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/campaign/sweep_table.h"
#include "study/campaign/sweep.h"

namespace infold::report {

struct SweepReport {
  const study::Sweep& sweep;
  const SweepTable& table;
  std::string database;  ///< the file names as the user gave them
  std::string csv;
};

/// A header and one line for each row: what varies comes first, then status and results.
std::string sweep_csv(const SweepReport& report);
std::string sweep_json(const SweepReport& report);
/// The columns that were asked for, and where the rest can be found.
std::string sweep_text(const SweepReport& report);

struct NoColumn {
  std::size_t index = 0;  ///< the index in the list of columns that the sweep shows
  std::string why;
};
/// Finds the first column to show that no result has. Unless the table is complete, a column that only some
/// results have may still appear.
std::optional<NoColumn> find_missing_column(const study::Sweep& sweep, const SweepTable& table,
                                            bool complete);

}  // namespace infold::report
