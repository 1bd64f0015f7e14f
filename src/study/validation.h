// Published figures to compare with: a row consists of a figure, where it was published, and the command that
// simulates the same. Only the comparison is computed here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"

namespace infold::study {

/// A command of infold without the name of the program, and where in its JSON the figure is.
struct CommandFigure {
  std::string run;
  std::string read;  ///< a JSON pointer, such as /results/0/time_us
  /// Where either stands in the file, for messages.
  sim::Place run_at;
  sim::Place read_at;
};

struct ValidationRow {
  std::string id;
  std::string quantity;
  std::string unit;
  double published = 0;
  std::string source;
  CommandFigure figure;
  std::optional<CommandFigure> over;  ///< the figure is divided by this one
  double accept = 0;                  ///< largest error, as a fraction of the published figure
  std::string because;                ///< why an error of this size is accepted
  bool calibrated = false;            ///< a constant was chosen looking at this row
  std::string missing;  ///< what is believed to be missing from the model, if the figure is missed
};

/// A constant or policy that was chosen so that figures fit, not taken from a data sheet.
struct CalibratedConstant {
  std::string path;  ///< as in --set
  std::string about;
  std::vector<std::string> chosen_on;  ///< ids of rows
  std::string instead;                 ///< for a policy, its other choice; empty if the constant is a number
};

struct Validation {
  std::vector<ValidationRow> rows;
  std::vector<CalibratedConstant> constants;
};

struct Comparison {
  double simulated = 0;
  double error = 0;  ///< fraction of the published figure, with its sign
  bool within = false;
};

/// One entry per row, which is empty if the command behind the row fails.
using Comparisons = std::vector<std::optional<Comparison>>;

/// The same figures with one constant 10 % smaller and larger, or twice with the other choice of a policy.
struct Sensitivity {
  CalibratedConstant constant;
  Comparisons smaller;
  Comparisons larger;
};

/// Requires: row.published > 0.
Comparison compare(const ValidationRow& row, double simulated);

struct ValidationSummary {
  int rows = 0;
  int within = 0;
  double geomean_abs_error = 0;  ///< exp(mean(|ln(simulated / published)|)) - 1
};
/// Covers the rows that have a comparison.
ValidationSummary summary(const std::vector<ValidationRow>& rows, const Comparisons& comparisons);

}  // namespace infold::study
