// The results of the points of a sweep as one table: every number and word in them is a column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/campaign/sweep.h"
#include "study/campaign/sweep_store.h"

namespace infold::report {

/// JSON on one line, or nothing if the text is not JSON.
std::optional<std::string> one_line_json(std::string_view text);

/// Whether a column is optional: results have it or not, depending on the options of a point or on what
/// happened.
bool only_in_some(std::string_view column);

class SweepTable {
 public:
  struct Row {
    std::size_t point = 0;
    study::PointStatus status = study::PointStatus::kDone;
    std::string message;
    std::vector<std::string>
        cells;  ///< one per column, as JSON; an empty one means that the row has no value
  };

  /// Points must come in order. A result that has rows (of bench or compare, or the causes of explain) gives
  /// as many rows, and its other values are repeated in each.
  void add(std::size_t point, study::PointResult result);

  const std::vector<study::ResultColumn>& columns() const { return columns_; }
  /// The member of results that has the rows; empty if a result is a row.
  const std::string& rows_key() const { return rows_key_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// The number of points with that status.
  std::size_t count(study::PointStatus status) const;
  std::optional<std::size_t> find(std::string_view column) const;

 private:
  std::size_t column(const std::string& name, const std::string& path, bool in_row);

  std::vector<study::ResultColumn> columns_;
  std::string rows_key_;
  std::vector<Row> rows_;
  std::size_t counts_[3] = {};
};

/// A JSON value as people read it: text without its quotes.
std::string plain(std::string_view json);

}  // namespace infold::report
