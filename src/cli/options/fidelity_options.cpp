// Levels by name, and the user's cache folder.
#include "cli/options/fidelity_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/build_mark.h"
#include "cli/options/effects.h"
#include "cli/options/pick.h"
#include "config/yaml/units.h"
#include "study/composed/profile_store.h"

namespace infold::cli {

namespace {

constexpr double kUsualBudget = 10;
constexpr sim::Time kLongestBudget = sim::Time::us(1'000'000) * 3600;

/// The folder of the user's caches, by the rules of XDG. Empty if the user has none.
std::filesystem::path cache_folder() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread writes the environment
    return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
  };
  const std::filesystem::path own = variable("XDG_CACHE_HOME");
  if (own.is_absolute()) return own / "infold" / "profiles";
  const std::filesystem::path home = variable("HOME");
  return home.is_absolute() ? home / ".cache" / "infold" / "profiles" : std::filesystem::path();
}

}  // namespace

void add_fidelity_arguments(CLI::App& c, FidelityArguments& a) {
  c.add_option("--fidelity", a.fidelity,
               "how closely: packet, burst, composed (distinct kernels, collectives and pairs in detail, the "
               "step put together), or auto: the finest within --budget (default: what --burst says)");
  c.add_option("--budget", a.budget,
               "with --fidelity auto: about how long the simulation may take (default 10s)");
  c.add_flag("--no-cache", a.no_cache, "composed: neither read nor keep profiles of earlier runs");
}

void add_fidelity_effects(CLI::App& c, const FidelityArguments& a, Effects& effects) {
  effects.only(
      c.get_option("--budget"), [&a] { return a.fidelity == "auto"; }, "without --fidelity auto");
  effects.only(
      c.get_option("--no-cache"), [&a] { return a.may_compose(); },
      "without --fidelity composed or auto, which keep profiles");
  effects.only(
      c.get_option("--burst"), [&a] { return a.fidelity.empty() || a.composes(); },
      "with --fidelity packet, burst or auto, which say it");
  effects.only(
      c.get_option("--fold"), [&a] { return !a.composes(); },
      "with --fidelity composed, where GPUs that do the same are one");
  if (const CLI::Option* trace = c.get_option_no_throw("--trace")) {
    effects.only(
        trace, [&a] { return !a.may_compose(); },
        "with --fidelity composed or auto, which do not simulate what a trace shows");
  }
}

sim::Status pick_fidelity(const FidelityArguments& a, study::StepJob& job) {
  if (a.fidelity.empty()) return {};
  if (a.fidelity == "flow")
    return sim::fail("--fidelity: flow is not there yet; packet, burst, composed and auto are");
  if (a.fidelity == "auto") {
    job.fidelity.budget_s = kUsualBudget;
  } else {
    study::Fidelity level{};
    if (auto e = pick("fidelity", a.fidelity, level); !e) return e;
    job.fidelity.level = level;
  }
  if (!a.budget.empty()) {
    const auto budget = config::parse_time(a.budget);
    if (!budget) return sim::fail(sim::prefixed("--budget", budget.error()));
    if (*budget < sim::Time::us(1'000) || *budget > kLongestBudget)
      return sim::fail(fmt::format("--budget: {} is not between 1 ms and 1 h", a.budget));
    job.fidelity.budget_s = budget->in_s();
  }
  if (a.may_compose()) {
    job.profiles = std::make_shared<study::composed::ProfileStore>(
        build_mark({}), a.no_cache ? std::filesystem::path() : cache_folder());
  }
  return {};
}

}  // namespace infold::cli
