// infold study: runs a shipped study, or one of the user.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <memory>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/options/what_if.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "config/catalog.h"
#include "config/study_file.h"
#include "formats/catalog.h"
#include "report/campaign/study_report.h"
#include "study/hypothetical.h"
#include "study/step/overlap_study.h"

namespace infold::cli {

namespace {

struct StudyArguments {
  std::string study = "overlap";
  int threads = 0;
  bool json = false;
  std::string json_file;
  bool no_timing = false;
  std::vector<std::string> sets;
  int nodes = 0;
  WhatIf what_if;
  PageArguments page;
};

/// Holds what the jobs of a study point to; a deque does not move its elements.
struct Loaded {
  std::vector<study::SystemPtr> systems;
  std::deque<train::Graph> graphs;
};

sim::Result<study::SystemPtr> load_one(const std::string& name, const StudyArguments& args, int gpus,
                                       Loaded& loaded) {
  auto systems = load_systems(name, with_nodes(args.sets, args.nodes));
  if (!systems) return sim::fail_as(std::move(systems));
  study::SystemPtr system = std::move(systems->front());
  if (gpus > system->machine.all_gpus() || system->machine.all_gpus() < 2)
    return sim::fail(fmt::format("{}: {} GPUs of {} cannot be had", args.study, gpus, system->name));
  loaded.systems.push_back(system);
  return system;
}

sim::Status add_case(const config::StudyCase& c, const StudyArguments& args, Loaded& loaded,
                     study::OverlapJob& job, report::StudyReport& report) {
  const auto found = load_one(c.system, args, c.gpus, loaded);
  if (!found) return sim::fail_as(found);
  const study::SystemPtr& system = *found;
  auto model = formats::load_model(c.model);
  if (!model) return sim::fail_as(std::move(model));
  auto graph = train::build_graph(*model, c.sequence);
  if (!graph) return sim::fail(fmt::format("{}: {}: {}", args.study, c.model, graph.error().message));
  loaded.graphs.push_back(std::move(*graph));
  study::OverlapCase one;
  one.step.system = system;
  one.step.gpus = c.gpus > 0 ? c.gpus : system->machine.all_gpus();
  one.step.graph = &loaded.graphs.back();
  one.step.recipe = c.recipe;
  auto layout = train::fill(c.layout, one.step.gpus);
  if (!layout) return sim::fail(fmt::format("{}: {}: {}", args.study, c.model, layout.error().message));
  one.step.layout = *layout;
  one.step.key_exchange = c.key_exchange;
  one.step.expert_exchange = c.expert_exchange;
  one.step.sequence_parallel = c.sequence_parallel && c.layout.tp > 1;
  one.step.sync = c.sync;
  one.step.pipeline = c.pipeline;
  one.step.fold = c.fold;
  one.heavy = c.heavy;
  one.explain = c.explain;
  report.cases.push_back(report::label_of(one.step, model->name));
  report.heavy.push_back(c.heavy);
  job.cases.push_back(std::move(one));
  return {};
}

sim::Status add_window(const config::StudyWindow& w, const StudyArguments& args, Loaded& loaded,
                       study::OverlapJob& job) {
  const auto system = load_one(w.system, args, w.gpus, loaded);
  if (!system) return sim::fail_as(system);
  study::SizeWindow window{.system = *system,
                           .gpus = w.gpus > 0 ? w.gpus : (*system)->machine.all_gpus(),
                           .methods = {},
                           .sizes = {}};
  for (sim::Bytes n = w.from; n <= w.to; n = n * w.factor) window.sizes.push_back(n);
  window.simulate_to = w.simulate_to;
  job.windows.push_back(std::move(window));
  return {};
}

sim::Status check_built(const study::PreparedSystem& system, const std::vector<study::Method>& methods,
                        bool what_if) {
  for (const study::Method& method : methods) {
    auto built = study::check_built(system, method, what_if);
    if (!built) return sim::fail(built.error().message + " (in a study: 'what_if: inc')");
  }
  return {};
}

int study_command(const StudyArguments& args) {
  const auto file = config::load_study(args.study);
  if (!file) return failure(file.error());
  const config::StudyFile& study = *file;
  const bool what_if = args.what_if.inc() || study.what_if_inc;
  Loaded loaded;
  study::OverlapJob job{.cases = {}, .windows = {}, .threads = args.threads};
  report::StudyReport report;
  report.name = study.name;
  report.summary = study.summary;
  report.sentences = study.sentences;
  for (const config::StudyCase& c : study.cases) {
    if (auto e = add_case(c, args, loaded, job, report); !e) return failure(e.error());
    study::OverlapCase& last = job.cases.back();
    last.methods = c.methods.empty() ? study.methods : c.methods;
    if (auto e = check_built(*last.step.system, last.methods, what_if); !e) return failure(e.error());
  }
  for (const config::StudyWindow& w : study.windows) {
    if (auto e = add_window(w, args, loaded, job); !e) return failure(e.error());
    study::SizeWindow& last = job.windows.back();
    last.methods = study.methods;
    if (auto e = check_built(*last.system, last.methods, what_if); !e) return failure(e.error());
  }
  NamedOutput json_file({"--json-file", args.json_file});
  if (const int exit = json_file.open(); exit != kDone) return exit;
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  for (const study::SystemPtr& system : loaded.systems) page.add(*system);
  const Stopwatch watch(args.no_timing);
  Progress progress;
  auto outcome = study::run(job, [&](double share) {
    progress.show(study.name, share);
    return !interrupted();
  });
  progress.clear();
  if (!outcome) return failure(outcome.error(), study.name);
  report.windows = job.windows;
  report.result = std::move(*outcome);
  report.wall_s = watch.seconds();
  const std::string json = report::study_json(report);
  print(args.json ? json : report::study_text(report));
  return std::max(json_file.wanted() ? json_file.write(json) : kDone, page.write(json));
}

}  // namespace

void add_study(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<StudyArguments>();
  args->page.typed = typed;
  CLI::App* command = app.add_subcommand("study", "a shipped study, or one of your own");
  command->add_option("study", args->study, "its name or file")->capture_default_str();
  command->add_option("--threads", args->threads, "simulations at the same time (default: as many as cores)")
      ->check(CLI::Range(1, 1024));
  add_nodes_argument(*command, args->nodes);
  command->add_option("--set", args->sets, "change a parameter of all systems: path=value; may be repeated")
      ->allow_extra_args(false);
  add_what_if_argument(*command, args->what_if);
  command->add_flag("--json", args->json, "print JSON");
  command->add_option("--json-file", args->json_file, "write JSON to this file too")->check(valid_file_name);
  add_page_argument(*command, args->page);
  command->add_flag("--no-timing", args->no_timing, "leave out how long the simulation took");
  command->footer("Example:\n  infold study thesis");
  command->callback([args, &exit] { exit = study_command(*args); });
}

}  // namespace infold::cli
