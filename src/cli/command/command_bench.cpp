// infold bench: collectives over a range of sizes, as nccl-tests does it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/named_output.h"
#include "cli/options/bench_options.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/stopwatch.h"
#include "cli/trace_file.h"
#include "config/tuning_file.h"
#include "formats/catalog.h"
#include "report/bench_report.h"
#include "study/collective/bench_run.h"
#include "study/hypothetical.h"

namespace infold::cli {

namespace {

study::BenchJob job_of(const BenchArguments& args, const BenchOptions& options,
                       const std::vector<study::SystemPtr>& systems) {
  study::BenchJob job;
  job.systems = systems;
  job.each.program = options.program ? &*options.program : nullptr;
  job.each.collective = options.collective;
  job.each.type = options.type;
  job.each.op = options.op;
  job.each.root = args.root;
  job.each.iterations = args.iterations;
  job.each.groups = args.groups;
  job.each.concurrent = args.concurrent;
  job.each.check = args.check;
  job.each.real_inputs = options.real_inputs;
  job.each.burst = options.burst;
  job.each.delays = options.delays;
  job.each.fault = options.fault;
  job.sizes = options.sizes;
  job.engines = options.engines;
  job.algorithms = options.algorithms;
  job.protocols = options.protocols;
  job.gpus = args.gpus;
  job.seed = args.seed;
  job.tune = !args.tune.empty();
  if (!args.skew.empty()) job.skew = options.skew;
  return job;
}

class BenchCommand {
 public:
  BenchCommand(const BenchArguments& args, const BenchOptions& options,
               const std::vector<study::SystemPtr>& systems)
      : args_(args),
        systems_(systems),
        job_(job_of(args, options, systems)),
        tuned_({"--tune", args.tune}),
        trace_(args.trace, args.page.typed),
        page_(args.page) {}

  int run() {
    auto kept = study::prepare_bench(job_, [] { return !interrupted(); });
    if (!kept) return failure(kept.error());
    if (const int exit = prepare_tuning(); exit != kDone) return exit;
    if (const int exit = page_.open(); exit != kDone) return exit;
    for (const auto& s : systems_) page_.add(*s);
    if (trace_.wanted() && job_.tune) return bad_input("--trace: not with --tune, which tries everything");
    if (const int exit = trace_.open(); exit != kDone) return exit;
    job_.each.trace = trace_.spec(job_.rows());
    describe();
    const Stopwatch watch(args_.no_timing);
    if (!args_.json) print(report::bench_header(report_));
    const auto result = study::run(job_,
                                   {.go_on = [] { return !interrupted(); },
                                    .began = [this](const auto& row) { began(row); },
                                    .progress = [this](double share) { progress_.show(label_, share); },
                                    .ended = [this](auto row) { ended(std::move(row)); }},
                                   std::move(*kept));
    progress_.clear();
    if (!result) {
      const bool refused = result.error().kind == sim::Error::Kind::kInput;
      return failure(result.error(), refused ? "" : label_);
    }
    report_.auto_loss = result->auto_loss;
    report_.wall_s = watch.seconds();
    print(args_.json ? report::bench_json(report_) : report::bench_footer(report_));
    return write_files(result->table);
  }

 private:
  void describe() {
    report_.collective = args_.collective;
    report_.dtype = sim::name_of(job_.each.type);
    report_.op = coll::reduces(job_.each.collective) ? args_.op : "none";
    report_.gpus = job_.gpus_of(*systems_.front());
    report_.nodes = systems_.front()->plan().blueprint().node_of(report_.gpus - 1) + 1;
    report_.residency = args_.residency || !args_.skew.empty() || !args_.delays.empty();
    for (const auto& s : systems_) {
      report_.system += (report_.system.empty() ? "" : ",") + s->name;
      report_.mixed = report_.mixed || job_.gpus_of(*s) != report_.gpus ||
                      s->machine.nodes != systems_.front()->machine.nodes;
    }
  }

  /// Reads the table to choose by, or begins one.
  int prepare_tuning() {
    if (args_.tune.empty() && args_.tuning.empty()) return kDone;
    if (!args_.tune.empty() && !args_.tuning.empty())
      return bad_input("--tune and --tuning: give one of them");
    if (systems_.size() > 1) return bad_input("--tune and --tuning are for one system");
    if (job_.engines.size() > 1) return bad_input("--tune and --tuning are for one engine");
    if (job_.tune) return tuned_.open();
    auto loaded = config::load_tuning(args_.tuning);
    if (!loaded) return failure(loaded.error());
    table_ = std::move(*loaded);
    job_.tuning = &table_;
    const auto checked = study::check_tuning(job_);
    return checked ? kDone : failure(checked.error(), args_.tuning);
  }

  void began(const study::BenchRow& row) {
    label_ = fmt::format("{} {} {} {} B", row.system->name, algorithm_of(row),
                         sim::name_of(row.choice.protocol), row.bytes.count());
  }

  void ended(study::BenchRow row) {
    progress_.clear();
    if (row.result.trace)
      trace_.add_after(row.system->name, label_, *std::exchange(row.result.trace, std::nullopt));
    wrong_ = wrong_ || row.result.wrong.value_or(0) > 0;
    report_.rows.push_back({.system = row.system->name,
                            .algo = std::string(algorithm_of(row)),
                            .proto = std::string(sim::name_of(row.choice.protocol)),
                            .chosen = row.chosen,
                            .engine = std::string(sim::name_of(row.result.engine)),
                            .gpus = row.gpus,
                            .bytes = row.bytes,
                            .count = row.count,
                            .hypothetical = study::is_hypothetical(*row.system, unit_of(row)),
                            .estimate_us = row.estimate_us,
                            .fault = args_.fail,
                            .result = std::move(row.result)});
    if (!args_.json) print(report::bench_line(report_, report_.rows.back()));
  }

  static std::string_view algorithm_of(const study::BenchRow& row) { return name_of(row.choice); }

  inc::Unit unit_of(const study::BenchRow& row) const {
    return row.choice.algorithm != nullptr ? row.choice.algorithm->unit
                                           : study::unit_of(job_.each.program->program);
  }

  /// If one file cannot be written, the others still are.
  int write_files(const study::TuningTable& best) {
    int exit = wrong_ ? kFailed : kDone;
    if (page_.wanted()) {
      draw_machines();
      exit = std::max(exit, page_.write(report::bench_json(report_)));
    }
    exit = std::max(exit, trace_.write());
    if (tuned_.wanted()) exit = std::max(exit, tuned_.write(config::tuning_text(best)));
    return exit;
  }

  /// Draws the machines under the largest messages, and what was published about them.
  void draw_machines() {
    const bool whole = std::ranges::all_of(
        systems_, [&](const auto& s) { return job_.gpus_of(*s) == s->machine.all_gpus(); });
    if (whole && args_.sets.empty() && args_.nodes == 0) page_.add_published(args_.collective);
    for (const report::BenchRow& row : report_.rows) {
      if (row.bytes == report_.rows.back().bytes)
        page_.add(fmt::format("{} on {}", row.algo, row.system), row.bytes.count(), row.result.links);
    }
  }

  const BenchArguments& args_;
  const std::vector<study::SystemPtr>& systems_;
  study::BenchJob job_;
  report::BenchReport report_;
  study::TuningTable table_;  // the table to choose by
  NamedOutput tuned_;
  TraceWriter trace_;
  PageWriter page_;
  Progress progress_;
  std::string label_;  // names the row that runs
  bool wrong_ = false;
};

/// What the collective of a program leaves without effect, which is known only when its file has been read.
sim::Status check_effects(const CLI::App& command, coll::Collective collective) {
  const auto refuse = [&](const char* option, const char* why) -> sim::Status {
    if (command.count(option) == 0) return {};
    return sim::fail(fmt::format("{} has no effect on {}, which {}", option, sim::name_of(collective), why));
  };
  if (collective == coll::Collective::kBarrier) {
    for (const char* option : {"--minbytes", "--maxbytes", "--stepfactor", "--stepbytes"}) {
      if (auto ok = refuse(option, "has no size"); !ok) return ok;
    }
    if (auto ok = refuse("--datatype", "has no data"); !ok) return ok;
  }
  return coll::reduces(collective) ? sim::Status{} : refuse("--op", "reduces nothing");
}

/// The program replaces collective and algorithm, and says the size unless another is asked for.
int take_program(BenchArguments& args, const CLI::App& command, std::optional<coll::OwnProgram>& own) {
  if (!args.collective.empty() || args.gpus > 0)
    return bad_input("--program: the file says which collective and how many GPUs");
  auto loaded = formats::load_program(args.program);
  if (!loaded) return failure(loaded.error());
  own = std::move(*loaded);
  args.collective = sim::name_of(own->program.collective);
  args.root = own->program.root;
  if (auto ok = check_effects(command, own->program.collective); !ok) return failure(ok.error());
  if (command.count("--minbytes") == 0) args.begin = std::to_string(own->program.bytes.count());
  return kDone;
}

/// Checks whether every system has what is asked of its switches.
sim::Status check_built(const BenchArguments& args, const BenchOptions& options,
                        const std::vector<study::SystemPtr>& systems) {
  std::vector<const coll::Algorithm*> algorithms = options.algorithms;
  if (options.fault) algorithms.push_back(options.fault->fallback);
  for (const study::SystemPtr& system : systems) {
    if (options.program) {
      auto built = study::check_built(*system, study::unit_of(options.program->program), args.program,
                                      args.what_if.inc());
      if (!built) return built;
    }
    for (const coll::Algorithm* algorithm : algorithms) {
      if (auto built = study::check_built(*system, algorithm, args.what_if.inc()); !built) return built;
    }
  }
  return {};
}

/// What --env leaves to the library; a program brings its own steps and protocol.
sim::Status take_environment(BenchArguments& args, const Environment& environment) {
  if (!args.program.empty()) {
    if (environment.variables.algorithms.empty() && environment.variables.protocols.empty()) return {};
    return sim::fail(
        "--env: NCCL_ALGO and NCCL_PROTO have no effect with --program, which brings its own steps");
  }
  for (const auto& named : coll::kCollectiveNames) {
    if (named.name != args.collective) continue;
    LibraryWords words{args.algorithms, args.algorithm_typed, args.protocols, args.protocol_typed};
    return environment.restrict(named.value, true, words);
  }
  return {};
}

int bench_command(BenchArguments& args, const CLI::App& command) {
  std::optional<coll::OwnProgram> own;
  if (!args.program.empty()) {
    if (const int exit = take_program(args, command, own); exit != kDone) return exit;
  }
  const auto environment = read_environment(args.env, args.systems);
  if (!environment) return failure(environment.error());
  if (auto taken = take_environment(args, *environment); !taken) return failure(taken.error());
  auto options = understand(args);
  if (!options) return failure(options.error());
  if (own) {
    const coll::Program& program = own->program;
    if (command.count("--minbytes") == 0 &&
        whole_elements(*options, program.bytes, program.ranks) != program.bytes)
      return bad_input(
          fmt::format("--program: {} bytes are not whole elements of {}", program.bytes.count(), args.dtype));
    options->algorithms = {nullptr};
    options->engines = {program.engine};
    options->program = std::move(own);
  }
  std::vector<std::string> sets = environment->sets;
  std::ranges::copy(with_nodes(args.sets, args.nodes), std::back_inserter(sets));
  if (args.channels > 0) sets.push_back(fmt::format("coll.channels={}", args.channels));
  const auto systems = load_systems(args.systems, sets);
  if (!systems) return failure(systems.error());
  if (const auto built = check_built(args, *options, *systems); !built) return failure(built.error());
  return BenchCommand(args, *options, *systems).run();
}

}  // namespace

void add_bench(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  CLI::App* command =
      app.add_subcommand("bench", "time a collective over a range of sizes, as nccl-tests does, or a kernel");
  auto args = std::make_shared<BenchArguments>();
  args->page.typed = typed;
  add_bench_arguments(*command, *args);
  add_bench_effects(*command, *args, effects);
  command->footer(
      "Example:\n  infold bench all_reduce -b 1M -e 1G -f 2 -g 8 --system dgx-a100,hgx-h100 --algo ring");
  add_bench_kernels(*command, typed, exit, effects);
  command->callback([args, command, &exit] {
    if (!command->get_subcommands().empty()) return;  // a kernel, which has run
    exit = bench_command(*args, *command);
  });
}

}  // namespace infold::cli
