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

/// Keeps the rows whose id is or begins with one of those named, if any is named. An id that matches no row
/// is refused and becomes the parameter of the error; the rows then stay as they are.
sim::Status keep_only(std::span<const std::string> ids, std::vector<ValidationRow>& rows);

/// Checks the commands of the rows without running them. An error has its place in the file.
sim::Status check_commands(std::span<const ValidationRow> rows, const CheckCommand& check);

/// Reads the number that a JSON pointer leads to; nothing if the text is not JSON or holds no such number.
using ReadFigure = std::function<std::optional<double>(std::string_view json, const std::string& pointer)>;

struct ValidationJob {
  const Validation& validation;
  bool sensitivity = false;  ///< runs them also with each calibrated constant changed
  int threads = 0;           ///< commands at a time; 0 means one per core
  RunCommand run;
  ReadFigure read;
};

struct ValidationResult {
  Comparisons plain;                     ///< one entry per row
  std::vector<std::string> failed;       ///< "id: why" for each row without a comparison
  std::vector<Sensitivity> sensitivity;  ///< one entry per constant, if asked for
};

/// Asked by one thread at a time, before each command; false asks to stop.
using ValidationGoesOn = std::function<bool(const std::string& command, double share)>;

/// Runs each command once, however many figures are read from it. If something is wrong with a command or
/// with the path to its figure, the error has its place in the file. It is the first one in the file,
/// whatever the number of threads, and what comes after it is not begun.
sim::Result<ValidationResult> run(const ValidationJob& job, const ValidationGoesOn& goes_on);

}  // namespace infold::study
