// A progress line on a terminal, for everything that takes more than a second. If standard error is not a
// terminal, a line that begins with '# ' is written to it every ten seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace infold::cli {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A share that is smaller than the previous one, by more than rounding, begins a new task.
  void show(const std::string& what, double share);
  /// For a task that cannot say its share: only how long it has been under way is shown.
  void show(const std::string& what);
  /// Removes the line, so that other output can be printed. Nothing is shown until the next show().
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  /// Draws again and again, also while nothing is reported.
  void keep_drawing(const std::stop_token& stop);
  std::string left(Clock::time_point now) const;
  void draw_line(Clock::time_point now);

  bool terminal_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any wake_;
  bool busy_ = false;   // between show() and clear()
  bool drawn_ = false;  // whether the line is on the terminal
  std::string what_;
  bool known_ = true;  // whether there is a share
  double share_ = 1;
  double first_ = 1;         // the share that the task began with
  Clock::time_point begun_;  // when the task began
  std::jthread drawer_;      // declared last, because it uses all of the above
};

}  // namespace infold::cli
