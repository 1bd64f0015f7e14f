// Checks whether a system as a whole makes sense, for readers of files, which ask before they hand it on.
#pragma once

#include <utility>

#include "study/prepared_system.h"

namespace infold::study {

/// An error says what stands in the way and which parameter to look at.
sim::Status check(const SystemSpec& system);

/// A check as readers need it, which keeps the last system that it found in order, so that the system need
/// not be prepared again.
class PreparingCheck {
 public:
  explicit PreparingCheck(sim::GoOn go_on = {}) : go_on_(std::move(go_on)) {}
  sim::Status operator()(const SystemSpec& system);
  /// Null if the last system was refused.
  const SystemPtr& prepared() const { return prepared_; }

 private:
  sim::GoOn go_on_;
  SystemPtr prepared_;
};

}  // namespace infold::study
