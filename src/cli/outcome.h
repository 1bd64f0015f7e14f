// What every command prints when a simulation gave no result.
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "cli/app.h"
#include "cli/systems.h"
#include "study/collective/collective_run.h"

namespace infold::cli {

/// Prints what waits for what, up to a readable length; returns the exit code.
int report_deadlock(const std::string& label, const study::Deadlock& deadlock);

/// Returns kDone when the outcome is a result; otherwise prints why it is not ("label: why") and returns the
/// exit code.
template <class Outcome>
int failure(const Outcome& outcome, const std::string& label = {}) {
  if (std::holds_alternative<study::Interrupted>(outcome)) return kInterrupted;
  if (const auto* refused = std::get_if<study::JobRefused>(&outcome))
    return bad_input(label.empty() ? refused->why : fmt::format("{}: {}", label, refused->why));
  if (const auto* deadlock = std::get_if<study::Deadlock>(&outcome)) return report_deadlock(label, *deadlock);
  return kDone;
}

}  // namespace infold::cli
