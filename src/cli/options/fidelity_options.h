// The options of how closely steps are simulated, and where profiles are kept.
#pragma once

#include <string>

#include "sim/result.h"
#include "study/step/step_run.h"

namespace CLI {
class App;
}

namespace infold::cli {

class Effects;

/// As typed.
struct FidelityArguments {
  std::string fidelity;  ///< empty: what --burst says
  std::string budget;
  bool no_cache = false;

  /// Whether a step may be composed, and whether it is.
  bool may_compose() const { return fidelity == "composed" || fidelity == "auto"; }
  bool composes() const { return fidelity == "composed"; }
};

void add_fidelity_arguments(CLI::App& command, FidelityArguments& args);
/// `args` must outlive `effects`.
void add_fidelity_effects(CLI::App& command, const FidelityArguments& args, Effects& effects);

/// Sets the level of a step, and where its profiles are kept.
sim::Status pick_fidelity(const FidelityArguments& args, study::StepJob& job);

}  // namespace infold::cli
