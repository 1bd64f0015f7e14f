// infold replay: traces and workload files on the GPUs of a system.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/effects.h"
#include "cli/options/environment.h"
#include "cli/options/systems.h"
#include "cli/options/train_options.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "cli/trace_file.h"
#include "formats/catalog.h"
#include "formats/trace/traces.h"
#include "report/replay_report.h"
#include "study/hypothetical.h"
#include "study/replay/replay_run.h"
#include "study/step/planned_step.h"
#include "work/rescale.h"

namespace infold::cli {

namespace {

struct ReplayArguments : TrainArguments {
  std::vector<std::string> files;
  int step = -1;
};

/// The options that a workload without communication has no use for.
std::string given_for_nothing(const CLI::App& command) {
  constexpr std::array kForCommunication = {"--algo",  "--program",      "--engine",  "--proto",
                                            "--env",   "--channels",     "--what-if", "--priority",
                                            "--burst", "--sms-reserved", "--without"};
  for (const char* name : kForCommunication) {
    if (command.get_option(name)->count() > 0) return name;
  }
  return {};
}

/// The program of a user, which is for some of the workload's collectives.
sim::Status take_program(const ReplayArguments& args, const work::Graph& graph, TrainSetup& setup) {
  if (args.programs.empty()) return {};
  if (args.programs.size() > 1) return sim::fail("--program: one program at a time");
  auto own = formats::load_program(args.programs.front());
  if (!own) return sim::fail_as(std::move(own));
  const coll::Program& program = own->program;
  for (const work::Operation& op : graph.operations) {
    const auto* c = std::get_if<work::Collective>(&op.what);
    if (c == nullptr || c->what != program.collective) continue;
    const auto& groups = graph.communicators[static_cast<std::size_t>(c->communicator)].groups;
    if (std::ranges::none_of(groups, [&](const auto& g) { return std::ssize(g) == program.ranks; })) continue;
    setup.programs.push_back(std::move(*own));
    return {};
  }
  return sim::fail(fmt::format("--program: {} is {} of {} ranks, which the workload has none of", own->name,
                               sim::name_of(program.collective), program.ranks));
}

/// The workload on as many ranks as were asked for.
sim::Status take_ranks(int gpus, study::Workload& workload, std::vector<std::string>& assumed) {
  if (gpus == 0 || gpus == workload.graph.ranks()) return {};
  auto rescaled = work::rescaled(std::move(workload.graph), gpus);
  if (!rescaled) return sim::fail(sim::prefixed("--gpus", rescaled.error()));
  workload.graph = std::move(rescaled->graph);
  workload.measured.reset();  // it was measured on others
  assumed.insert(assumed.end(), rescaled->assumed.begin(), rescaled->assumed.end());
  return {};
}

sim::Status check_precisions(const gpu::GpuSpec& gpu, const work::Graph& graph) {
  for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
    const auto* kernel = std::get_if<work::Kernel>(&graph[op].what);
    if (kernel == nullptr || std::holds_alternative<work::Streaming>(kernel->what)) continue;
    gpu::Precision precision = kernel->precision;
    if (const auto* m = std::get_if<work::MatMul>(&kernel->what)) {
      if (graph.tensors[static_cast<std::size_t>(m->left)].element_bytes == 1)
        precision = gpu::Precision::kFp8;
    }
    if (gpu::matrix_ops(gpu.sm, precision) > 0) continue;
    return sim::fail(fmt::format("{}: {} cannot compute with {}", work::label(graph, op), gpu.name,
                                 sim::name_of(precision)));
  }
  return {};
}

int replay(const ReplayArguments& typed, const CLI::App& command) {
  const Stopwatch watch(typed.no_timing);
  ReplayArguments args = typed;
  const auto environment = read_environment(args.env, args.system);
  if (!environment) return failure(environment.error());
  LibraryWords words{args.algorithms, args.algorithm_typed, args.protocol, args.protocol_typed};
  if (auto ok = environment->restrict(coll::Collective::kAllReduce, false, words); !ok)
    return failure(ok.error());
  std::vector<std::string> sets = environment->sets;
  std::ranges::copy(with_nodes(args.sets, args.nodes), std::back_inserter(sets));
  if (args.channels > 0) sets.push_back(fmt::format("coll.channels={}", args.channels));
  TrainSetup setup;
  auto system = load_one_system(args.system, sets);
  if (!system) return failure(system.error());
  setup.system = std::move(*system);
  const int gpus = setup.system->machine.all_gpus();
  if (args.gpus > gpus)
    return bad_input(fmt::format("--gpus {}: {} has {}", args.gpus, setup.system->name, gpus));
  auto loaded =
      formats::load_workload(args.files, {.ranks = args.gpus > 0 ? args.gpus : gpus, .step = args.step});
  if (!loaded) return failure(loaded.error());
  study::Workload& workload = loaded->workload;
  std::vector<std::string> assumed = loaded->notes.assumed;
  if (auto ok = take_ranks(args.gpus, workload, assumed); !ok) return failure(ok.error());
  const bool communicates = study::used_communicators(workload.graph) > 0;
  if (const std::string name = given_for_nothing(command); !communicates && !name.empty())
    return bad_input(fmt::format("{} has no effect: nothing is communicated in {}", name, workload.name));
  if (auto ok = check_precisions(setup.system->machine.gpu, workload.graph); !ok) return failure(ok.error());
  setup.job.gpus = workload.graph.ranks();
  if (auto ok = take_program(args, workload.graph, setup); !ok) return failure(ok.error());
  if (auto ok = pick_collectives(args, setup); !ok) return failure(ok.error());
  if (setup.methods.size() != 1) return bad_input("--algo: one algorithm at a time");
  if (auto built = study::check_built(*setup.system, setup.job.method, args.what_if.inc());
      communicates && !built)
    return failure(built.error());
  study::ReplayJob job{.system = setup.system,
                       .workload = &workload,
                       .method = setup.job.method,
                       .protocol = setup.job.protocol,
                       .burst = setup.job.burst,
                       .delays = setup.job.delays};
  if (auto ok = pick_sharing(args, job.core); !ok) return failure(ok.error());
  TraceWriter trace(args.trace, args.page.typed);
  if (const int exit = trace.open(); exit != kDone) return exit;
  job.trace = trace.spec();
  Progress progress;
  auto outcome = study::run(job, [&](double share) {
    progress.show(workload.name, share);
    return !interrupted();
  });
  progress.clear();
  if (!outcome) return failure(outcome.error(), workload.name);
  if (outcome->trace) trace.add_after({}, workload.name, *std::exchange(outcome->trace, std::nullopt));
  const report::ReplayReport report{.system = setup.system->name,
                                    .gpu = setup.system->machine.gpu.name,
                                    .workload = workload.name,
                                    .assumed = std::move(assumed),
                                    .method = setup.job.method,
                                    .communicates = communicates,
                                    .measured = workload.measured,
                                    .result = std::move(*outcome),
                                    .wall_s = watch.seconds()};
  print(args.json ? report::replay_json(report) : report::replay_text(report));
  return trace.write();
}

}  // namespace

void add_replay(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  auto args = std::make_shared<ReplayArguments>();
  args->page.typed = typed;
  CLI::App* command = app.add_subcommand("replay", "a recorded step on a system: traces, or a workload file");
  command
      ->add_option(
          "file", args->files,
          "traces of Chakra or of the PyTorch profiler, one file for each rank or an archive of them; or a "
          "workload file, as 'infold import' and 'infold train --workload' write it")
      ->required();
  command->add_option("--system", args->system, "a system's name or file")->capture_default_str();
  command
      ->add_option(
          "-g,--gpus,--ngpus", args->gpus,
          "run it on so many GPUs: data-parallel groups grow or shrink, others stay (default: as many as "
          "the workload has ranks)")
      ->check(CLI::Range(1, net::kMostGpus));
  command
      ->add_option("--step", args->step,
                   "of a profile: the ProfilerStep of this number (default: the one in the middle)")
      ->check(CLI::Range(0, 1'000'000'000));
  add_nodes_argument(*command, args->nodes);
  add_collective_arguments(*command, *args, /*several=*/false);
  command->add_option("--set", args->sets, "change a parameter: path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--json", args->json, "print JSON");
  command->add_flag("--no-timing", args->no_timing, "leave out how long the simulation took");
  add_trace_arguments(*command, args->trace);
  add_collective_effects(*command, *args, effects);
  effects.only(
      command->get_option("--trace-interval"), [args] { return !args->trace.file.empty(); },
      "without --trace");
  command->footer(
      "Example:\n"
      "  infold replay rank0.json.gz rank1.json.gz --system dgx-a100\n"
      "  infold replay step.0.et step.1.et --system hgx-h100 --gpus 8 --algo nvls");
  command->callback([args, command, &exit] { exit = replay(*args, *command); });
}

}  // namespace infold::cli
