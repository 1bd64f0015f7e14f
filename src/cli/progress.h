// A progress line on a terminal, for everything that takes more than a second. It prints nothing anywhere
// else.
#pragma once

#include <chrono>
#include <string>

namespace infold::cli {

class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A share that is smaller than the previous one begins a new task.
  void show(const std::string& what, double share);
  /// Removes the line, so that other output can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
  Clock::time_point begun_;  // when the share was first_
  double first_ = 1;
  double last_ = 1;
};

}  // namespace infold::cli
