// How long work hears that it is no longer wanted: it asks now and then, and ends with an error of its own
// kind. Whatever asks may be called from deep inside, so the answer must be cheap.
#pragma once

#include <functional>

#include "sim/result.h"

namespace infold::sim {

/// False asks to stop. Empty: nothing ever does.
using GoOn = std::function<bool()>;

/// `if (asked_to_stop(go_on)) return interrupted();` in a function that returns any Result.
inline bool asked_to_stop(const GoOn& go_on) {
  return go_on && !go_on();
}

}  // namespace infold::sim
