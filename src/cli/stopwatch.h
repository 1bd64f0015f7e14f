// Measures how long a command took, unless its output must be the same on every run.
#pragma once

#include <chrono>
#include <optional>

namespace infold::cli {

class Stopwatch {
 public:
  explicit Stopwatch(bool off) : off_(off), started_(std::chrono::steady_clock::now()) {}
  std::optional<double> seconds() const {
    if (off_) return std::nullopt;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  bool off_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace infold::cli
