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
  /// The values as they would be typed. "true" and "false" are for an option that takes no value; an empty
  /// value means that nothing is varied at this point.
  std::vector<std::string> values;

  bool is_option() const { return name.starts_with('-'); }
};

/// Columns of the same length, at least 1, that vary together.
struct SweepAxis {
  std::vector<SweepColumn> columns;

  std::size_t size() const { return columns.front().values.size(); }
};

struct Sweep {
  /// A larger number is more likely a mistake than intended.
  static constexpr std::size_t kMostPoints = 100'000;

  std::string name;
  std::string summary;
  std::vector<std::string> command;  ///< the words of the command
  std::vector<SweepAxis> axes;       ///< the last axis changes first
  std::vector<std::string> show;     ///< columns of results to print
  bool winners = false;              ///< prints which algorithm is the fastest instead

  /// The product of the sizes of the axes, or kMostPoints + 1 if the product is larger.
  std::size_t points() const;
  /// The names of the columns, in order.
  std::vector<std::string> columns() const;
  /// The values of the columns at a point. Requires: point < points().
  std::vector<std::string> values(std::size_t point) const;
  /// The whole command of a point.
  std::vector<std::string> words(std::size_t point) const;
  /// The text that determines which points there are and what they mean, with one item per line.
  std::string identity() const;
};

/// What a column adds to a command line.
void add_words(std::string_view column, std::string_view value, std::vector<std::string>& words);

}  // namespace infold::study
