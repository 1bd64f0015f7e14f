// Runs the commands behind published figures, and compares.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"
#include "study/campaign/command_run.h"
#include "study/validation.h"

namespace infold::study {

/// Keeps the rows whose id is or begins with one of those named, if any is named. An id that none begins with
/// is refused: it is the error's parameter, and the rows stay.
sim::Status keep_only(std::span<const std::string> ids, std::vector<ValidationRow>& rows);

/// What can be said against the rows' commands without running them, with its place in the file.
sim::Status check_commands(std::span<const ValidationRow> rows, const CheckCommand& check);

/// The number that a JSON pointer leads to; nothing if the text is no JSON or there is none.
using ReadFigure = std::function<std::optional<double>(std::string_view json, const std::string& pointer)>;

struct ValidationJob {
  const Validation& validation;
  bool sensitivity = false;  ///< also with each calibrated constant changed
  int threads = 0;           ///< commands at a time; 0: one a core
  RunCommand run;
  ReadFigure read;
};

struct ValidationResult {
  Comparisons plain;                     ///< of each row
  std::vector<std::string> failed;       ///< "id: why" of each row that has none
  std::vector<Sensitivity> sensitivity;  ///< of each constant, where asked for
};

/// Asked by one thread at a time, before each command; false asks to stop.
using ValidationGoesOn = std::function<bool(const std::string& command, double share)>;

/// Each command is run once, however many figures are read from it. What is wrong with a command or with the
/// path to its figure is an error with its place in the file: the first one there, whatever the number of
/// threads, and what comes after it is not begun.
sim::Result<ValidationResult> run(const ValidationJob& job, const ValidationGoesOn& goes_on);

}  // namespace infold::study
