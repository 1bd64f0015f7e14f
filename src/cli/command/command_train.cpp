// infold train: one step of a model on the GPUs of a system.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/options/train_options.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "cli/trace_file.h"
#include "formats/workload/workload_file.h"
#include "report/step_report.h"
#include "report/train_report.h"
#include "study/step/planned_step.h"
#include "study/step/step_run.h"
#include "study/step/train_run.h"

namespace infold::cli {

namespace {

/// Without communication, the report says more about the kernels.
int train_alone(const TrainArguments& args, const TrainSetup& setup, PageWriter& page, TraceWriter& trace) {
  const Stopwatch watch(args.no_timing);
  const gpu::GpuSpec& gpu = setup.system->machine.gpu;
  Progress progress;
  auto outcome =
      study::run(gpu, {&setup.graph, setup.job.recipe, args.ignore_memory, trace.spec()}, [&](double share) {
        progress.show(setup.model.name, share);
        return !interrupted();
      });
  progress.clear();
  if (!outcome) return failure(outcome.error(), setup.model.name);
  study::TrainResult& result = *outcome;
  if (result.trace) trace.add_after({}, setup.model.name, *std::exchange(result.trace, std::nullopt));
  const report::TrainReport report{.system = setup.system->name,
                                   .gpu = gpu.name,
                                   .model = setup.model.name,
                                   .batch = args.batch,
                                   .accumulate = args.accumulate,
                                   .tokens = report::label_of(setup.job, setup.model.name).tokens,
                                   .dtype = args.dtype,
                                   .fusion = args.fusion,
                                   .optimizer = args.optimizer,
                                   .recompute = args.recompute,
                                   .result = result,
                                   .wall_s = watch.seconds()};
  print(args.json ? report::train_json(report) : report::train_text(report));
  page.add(result.history);
  return std::max(page.wanted() ? page.write(report::train_json(report)) : kDone, trace.write());
}

int train_together(const TrainArguments& args, TrainSetup& setup, PageWriter& page, TraceWriter& trace) {
  const Stopwatch watch(args.no_timing);
  Progress progress;
  setup.job.trace = trace.wanted() ? trace.spec() : page.recording();
  auto outcome = study::run(setup.job, [&](double share) {
    progress.show(setup.model.name, share);
    return !interrupted();
  });
  progress.clear();
  if (!outcome) return failure(outcome.error(), setup.model.name);
  study::StepResult& result = *outcome;
  if (result.trace) {
    page.add(*result.trace);
    trace.add_after({}, setup.model.name, *std::exchange(result.trace, std::nullopt));
  }
  const report::StepReport report{
      .label = report::label_of(setup.job, setup.model.name), .result = result, .wall_s = watch.seconds()};
  print(args.json ? report::step_json(report) : report::step_text(report));
  page.add(result.history);
  page.add(fmt::format("{} of {}", name_of(setup.job.method), setup.model.name), 0, result.links);
  return std::max(page.wanted() ? page.write(report::step_json(report)) : kDone, trace.write());
}

/// Writes the step as a workload that 'replay' and 'export' read.
int write_workload(const TrainArguments& args, const TrainSetup& setup) {
  NamedOutput out({"--workload", args.workload});
  if (!out.wanted()) return kDone;
  auto planned = study::plan_step(setup.job);
  if (!planned) return failure(planned.error(), setup.model.name);
  if (const int opened = out.open(); opened != kDone) return opened;
  return out.write(formats::workload_text(
      {.name = setup.model.name,
       .type = planned->gradient_bytes == 2 ? coll::DataType::kBf16 : coll::DataType::kFp32,
       .graph = std::move(planned->graph),
       .measured = {},
       .sources = {
           fmt::format("written by infold train: {} on {} ranks", setup.model.name, setup.job.gpus)}}));
}

int train_command(const TrainArguments& args) {
  auto understood = understand(args);
  if (!understood) return failure(understood.error());
  TrainSetup& setup = **understood;
  if (setup.job.gpus > 1 && setup.methods.size() != 1)
    return bad_input("--algo: one algorithm at a time; 'infold compare' takes several");
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  page.add(*setup.system);
  TraceWriter trace(args.trace, args.page.typed);
  if (const int exit = trace.open(); exit != kDone) return exit;
  if (const int exit = write_workload(args, setup); exit != kDone) return exit;
  return setup.job.gpus == 1 ? train_alone(args, setup, page, trace)
                             : train_together(args, setup, page, trace);
}

}  // namespace

void add_train(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  auto args = std::make_shared<TrainArguments>();
  args->page.typed = typed;
  CLI::App* command = app.add_subcommand("train", "one training step of a model, with its communication");
  add_train_arguments(*command, *args, /*several=*/false);
  add_trace_arguments(*command, args->trace);
  command
      ->add_option("--workload", args->workload,
                   "also write the step as a workload file, for 'replay' and 'export'")
      ->check(valid_file_name);
  add_train_effects(*command, *args, effects);
  command->footer(
      "Example:\n"
      "  infold train --system dgx-a100 --model resnet50 --batch 256\n"
      "  infold train --system hgx-h100 --model gpt2-xl --batch 1 --algo tree --sequential\n"
      "  infold train --model bert-large --batch 32 --gpus 1 --fusion fused --optimizer adam");
  command->callback([args, &exit] { exit = train_command(*args); });
}

}  // namespace infold::cli
