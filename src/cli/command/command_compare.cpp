// infold compare and infold explain: a training step in several ways, and why its backward is slower.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/systems.h"
#include "cli/options/train_options.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "cli/trace_file.h"
#include "report/compare_report.h"
#include "report/explain_report.h"
#include "study/step/compare_run.h"
#include "study/step/explain_run.h"

namespace infold::cli {

namespace {

/// Reads what both commands need, and refuses what neither can do.
sim::Result<std::unique_ptr<TrainSetup>> several_gpus(const TrainArguments& args) {
  auto understood = understand(args);
  if (understood && (*understood)->job.gpus == 1)
    return sim::fail("one GPU has nothing to communicate with; take two or more");
  return understood;
}

int compare_command(const TrainArguments& args) {
  auto understood = several_gpus(args);
  if (!understood) return failure(understood.error());
  TrainSetup& setup = **understood;
  if (!args.algorithms_named) {
    auto used = study::with_use(setup.job, setup.methods);
    if (!used) return failure(used.error(), setup.model.name);
    setup.methods = *std::move(used);
  }
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  page.add(*setup.system);
  TraceWriter trace(args.trace, args.page.typed);
  if (const int exit = trace.open(); exit != kDone) return exit;
  // The result has one row for each variant of each method.
  setup.job.trace = trace.wanted() ? trace.spec() : page.recording(3 * setup.methods.size());
  const Stopwatch watch(args.no_timing);
  Progress progress;
  auto outcome =
      study::run(study::CompareJob{.step = setup.job, .methods = setup.methods, .threads = args.threads},
                 [&](double share) {
                   progress.show(setup.model.name, share);
                   return !interrupted();
                 });
  progress.clear();
  if (!outcome) return failure(outcome.error(), setup.model.name);
  study::CompareResult& result = *outcome;
  for (study::CompareRow& row : result.rows) {
    if (!row.result.trace) continue;
    if (row.variant == study::Variant::kOverlap)
      page.add(*row.result.trace, static_cast<std::size_t>(&row - result.rows.data()));
    trace.add_beside(fmt::format("{} {}", name_of(row.method), sim::name_of(row.variant)),
                     *std::exchange(row.result.trace, std::nullopt));
  }
  const report::CompareReport report{
      .label = report::label_of(setup.job, setup.model.name), .result = result, .wall_s = watch.seconds()};
  print(args.json ? report::compare_json(report) : report::compare_text(report));
  for (const study::CompareRow& row : result.rows) {
    if (row.variant == study::Variant::kOverlap)
      page.add(fmt::format("{} of {}", name_of(row.method), setup.model.name), 0, row.result.links);
  }
  return std::max(page.wanted() ? page.write(report::compare_json(report)) : kDone, trace.write());
}

int explain_command(const TrainArguments& args) {
  auto understood = several_gpus(args);
  if (!understood) return failure(understood.error());
  const TrainSetup& setup = **understood;
  if (setup.methods.size() != 1) return bad_input("--algo: one algorithm at a time");
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  page.add(*setup.system);
  const Stopwatch watch(args.no_timing);
  Progress progress;
  const auto outcome =
      study::run(study::ExplainJob{.step = setup.job, .threads = args.threads}, [&](double share) {
        progress.show(setup.model.name, share);
        return !interrupted();
      });
  progress.clear();
  if (!outcome) return failure(outcome.error(), setup.model.name);
  const report::ExplainReport report{.label = report::label_of(setup.job, setup.model.name),
                                     .sms = setup.system->machine.gpu.sms,
                                     .result = *outcome,
                                     .wall_s = watch.seconds()};
  print(args.json ? report::explain_json(report) : report::explain_text(report));
  return page.wanted() ? page.write(report::explain_json(report)) : kDone;
}

}  // namespace

void add_compare(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  auto args = std::make_shared<TrainArguments>();
  args->page.typed = typed;
  args->algorithms = "ring,tree,two-shot";
  args->beside_programs = true;
  CLI::App* command =
      app.add_subcommand("compare", "a training step sequential, overlapped and ideal, by algorithm");
  add_train_arguments(*command, *args, /*several=*/true);
  add_trace_arguments(*command, args->trace);
  add_train_effects(*command, *args, effects);
  command->footer(
      "Example:\n"
      "  infold compare --system dgx-a100 --model transformer-big --batch 8 --seq 64 --algo ring,tree");
  command->callback([args, command, &exit] {
    args->algorithms_named = command->count("--algo") > 0;
    exit = compare_command(*args);
  });
}

void add_explain(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  auto args = std::make_shared<TrainArguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("explain", "why a step takes longer with communication, cause by cause");
  add_train_arguments(*command, *args, /*several=*/true);
  add_train_effects(*command, *args, effects);
  command->footer(
      "Each kind of sharing is switched off by itself, and the step simulated again.\n"
      "Example:\n"
      "  infold explain --system dgx-a100 --model transformer-big --batch 8 --seq 64 --skew 200us");
  command->callback([args, &exit] { exit = explain_command(*args); });
}

}  // namespace infold::cli
