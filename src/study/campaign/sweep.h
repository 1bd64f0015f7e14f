// A sweep: one command with some of its options and parameters varied. Every combination is a point, and
// points are numbered, so that a point means the same in every run of the same sweep.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace infold::study {

/// What is varied: an option of the command ("--algo"), or else the path of a parameter ("inc.table_bytes").
struct SweepColumn {
  std::string name;
  /// As they would be typed; "true" and "false" for an option that takes no value; empty: as if it were not
  /// varied at this point.
  std::vector<std::string> values;

  bool is_option() const { return name.starts_with('-'); }
};

/// Columns of the same length, at least 1, that walk together.
struct SweepAxis {
  std::vector<SweepColumn> columns;

  std::size_t size() const { return columns.front().values.size(); }
};

struct Sweep {
  /// More would be a mistake more often than a wish.
  static constexpr std::size_t kMostPoints = 100'000;

  std::string name;
  std::string summary;
  std::vector<std::string> command;  ///< its words
  std::vector<SweepAxis> axes;       ///< the last changes first
  std::vector<std::string> show;     ///< columns of results to print

  /// The product of the axes' sizes, or kMostPoints + 1 if that is more.
  std::size_t points() const;
  /// The columns' names, in order.
  std::vector<std::string> columns() const;
  /// What they are at a point. Requires: point < points().
  std::vector<std::string> values(std::size_t point) const;
  /// The whole command of a point.
  std::vector<std::string> words(std::size_t point) const;
  /// What decides which points there are and what they mean, one thing a line.
  std::string identity() const;
};

/// What a column adds to a command line.
void add_words(std::string_view column, std::string_view value, std::vector<std::string>& words);

}  // namespace infold::study
