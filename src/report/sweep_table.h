// The results of a sweep's points as one table: every number and word in them is a column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/campaign/sweep.h"
#include "study/campaign/sweep_store.h"

namespace infold::report {

/// JSON on one line, or nothing if the text is none.
std::optional<std::string> one_line_json(std::string_view text);

/// Whether a column is one that results have or have not, by a point's options or by what happened.
bool only_in_some(std::string_view column);

class SweepTable {
 public:
  struct Row {
    std::size_t point = 0;
    study::PointStatus status = study::PointStatus::kDone;
    std::string message;
    std::vector<std::string> cells;  ///< one a column, as JSON; empty: it has none
  };

  /// Points must come in order. A result that has rows (of bench or compare, or the causes of explain)
  /// gives as many, and what it says of all of them is in each.
  void add(std::size_t point, study::PointResult result);

  const std::vector<study::ResultColumn>& columns() const { return columns_; }
  /// The member of results that has the rows; empty: a result is a row.
  const std::string& rows_key() const { return rows_key_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// Points of that status.
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
