// How long-running work learns that it is no longer wanted: it asks now and then, and ends with an error of
// kind kInterrupted. The question may be asked from deep inside, so the answer must be cheap.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/result.h"

namespace infold::sim {

/// Returning false asks to stop. If the function is empty, nothing ever does.
using GoOn = std::function<bool()>;

/// `if (asked_to_stop(go_on)) return interrupted();` in a function that returns any Result.
inline bool asked_to_stop(const GoOn& go_on) {
  return go_on && !go_on();
}

/// Asks now and then in work that consists of very many small steps of some nanoseconds each: so often that a
/// user who wants to stop is heard within milliseconds, and so rarely that asking costs nothing.
class Patience {
 public:
  static constexpr std::int64_t kStepsPerLook = 1'000'000;

  /// `go_on` must outlive it.
  explicit Patience(const GoOn& go_on) : go_on_(go_on) {}

  /// Counts the steps that were done, and returns whether the caller is asked to stop.
  bool ended_after(std::int64_t steps) {
    left_ -= steps;
    if (left_ > 0) return false;
    left_ = kStepsPerLook;
    return asked_to_stop(go_on_);
  }

 private:
  const GoOn& go_on_;
  std::int64_t left_ = 0;
};

}  // namespace infold::sim
