// Whether a system as a whole makes sense, for readers of files, which ask before they hand it on.
#pragma once

#include <utility>

#include "study/prepared_system.h"

namespace infold::study {

/// Fails with what stands in the way and which parameter to look at.
sim::Status check(const SystemSpec& system);

/// Checks as readers want it, and keeps the last system that it found in order, so that it need not be
/// prepared again.
class PreparingCheck {
 public:
  explicit PreparingCheck(sim::GoOn go_on = {}) : go_on_(std::move(go_on)) {}
  sim::Status operator()(const SystemSpec& system);
  /// Null when the last one was refused.
  const SystemPtr& prepared() const { return prepared_; }

 private:
  sim::GoOn go_on_;
  SystemPtr prepared_;
};

}  // namespace infold::study
