// Loads everything that a file names, and runs nothing.
#include "cli/file_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/child.h"
#include "cli/options/systems.h"
#include "config/catalog.h"
#include "config/yaml/suggest.h"
#include "formats/catalog.h"
#include "report/campaign/known_columns.h"
#include "study/campaign/sweep_check.h"
#include "study/hypothetical.h"
#include "train/graph.h"

namespace infold::cli {

namespace {

/// Names the columns to show that no result of the command has, with their places.
sim::Status check_columns(const config::SweepFile& file) {
  const std::vector<std::string> known = report::known_columns(file.sweep.command);
  if (known.empty()) return {};
  const std::vector<std::string_view> views(known.begin(), known.end());
  std::vector<std::string> unknown;
  std::size_t first = 0;
  for (std::size_t i = 0; i < file.sweep.show.size(); ++i) {
    const std::string& name = file.sweep.show[i];
    if (std::ranges::find(known, name) != known.end()) continue;
    if (unknown.empty()) first = i;
    unknown.push_back(fmt::format("'{}'{}", name, config::did_you_mean(name, views)));
  }
  if (unknown.empty()) return {};
  return sim::fail(
      config::at(file.shown, file.show_at[first],
                 fmt::format("show: there is no column {} in the results", fmt::join(unknown, ", "))));
}

sim::Status check_methods(const study::PreparedSystem& system, const std::vector<study::Method>& methods,
                          bool what_if) {
  for (const study::Method& method : methods) {
    auto built = study::check_built(system, method, what_if);
    if (!built) return built;
  }
  return {};
}

}  // namespace

sim::Status check_sweep(const config::SweepFile& file) {
  if (const auto wrong = study::find_wrong_words(file.sweep, check_command)) {
    const config::Position at =
        wrong->column.empty() ? file.command_at : file.value_at.at(wrong->column)[wrong->value];
    return sim::fail(config::at(file.shown, at, wrong->why));
  }
  return check_columns(file);
}

sim::Status check_study(const config::StudyFile& study) {
  const auto check_one = [&](const std::string& name, int gpus,
                             const std::vector<study::Method>& methods) -> sim::Status {
    const auto system = load_one_system(name, {});
    if (!system) return sim::fail_as(system);
    if (gpus > (*system)->machine.all_gpus())
      return sim::fail(
          fmt::format("{}: {} has {} GPUs, not {}", study.name, name, (*system)->machine.all_gpus(), gpus));
    return check_methods(**system, methods, study.what_if_inc);
  };
  for (const config::StudyCase& c : study.cases) {
    auto fits = check_one(c.system, c.gpus, c.methods.empty() ? study.methods : c.methods);
    if (!fits) return fits;
    auto model = formats::load_model(c.model);
    if (!model) return sim::fail_as(std::move(model));
    if (auto graph = train::build_graph(*model, c.sequence); !graph)
      return sim::fail(fmt::format("{}: {}: {}", study.name, c.model, graph.error().message));
  }
  for (const config::StudyWindow& w : study.windows) {
    if (auto fits = check_one(w.system, w.gpus, study.methods); !fits) return fits;
  }
  return {};
}

}  // namespace infold::cli
