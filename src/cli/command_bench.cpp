// infold bench: collectives over a range of sizes, as nccl-tests does it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/app.h"
#include "cli/bench_options.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/systems.h"
#include "config/program_file.h"
#include "report/bench_report.h"

namespace infold::cli {

namespace {

class BenchCommand {
 public:
  BenchCommand(const BenchArguments& args, BenchOptions options)
      : args_(args), options_(std::move(options)) {}

  int run() {
    const auto systems = load_systems(args_.systems, args_.sets);
    if (!systems) return kBadInput;
    for (const auto& s : *systems) {
      if (gpus_of(s) > s.machine.gpus) {
        return bad_input(fmt::format("{}: {} has {} GPUs, not {}", options_.program ? "--program" : "-g",
                                     s.name, s.machine.gpus, gpus_of(s)));
      }
      if (auto why = refuse(s)) return bad_input(*why);
    }
    describe(*systems);
    const auto started = std::chrono::steady_clock::now();
    if (!args_.json) print(report::bench_header(report_));
    for (const std::int64_t bytes : options_.sizes) {
      for (const auto& system : *systems) {
        for (const auto* algorithm : options_.algorithms) {
          const int exit = run_one(system, algorithm, bytes);
          if (exit != kDone) return exit;
        }
      }
    }
    if (!args_.no_timing) {
      report_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    }
    print(args_.json ? report::bench_json(report_) : report::bench_footer(report_));
    return wrong_ ? kFailed : kDone;
  }

 private:
  void describe(const std::vector<study::SystemSpec>& systems) {
    report_.collective = args_.collective;
    report_.dtype = sim::name_of(options_.type);
    report_.op = coll::reduces(options_.collective) ? args_.op : "none";
    for (const auto& s : systems) report_.system += (report_.system.empty() ? "" : ",") + s.name;
    report_.gpus = gpus_of(systems.front());
    for (const auto& s : systems) report_.mixed = report_.mixed || gpus_of(s) != report_.gpus;
  }

  int gpus_of(const study::SystemSpec& system) const {
    if (options_.program) return options_.program->ranks * args_.groups;
    return args_.gpus > 0 ? args_.gpus : system.machine.gpus;
  }

  /// `algorithm` is null where a program is given.
  study::CollectiveJob job_for(const study::SystemSpec& system, const coll::Algorithm* algorithm,
                               sim::Bytes bytes, int gpus) const {
    return {.system = &system,
            .algorithm = algorithm,
            .program = options_.program ? &*options_.program : nullptr,
            .collective = options_.collective,
            .bytes = bytes,
            .type = options_.type,
            .op = options_.op,
            .root = args_.root,
            .gpus = gpus,
            .iterations = args_.iterations,
            .groups = args_.groups,
            .concurrent = args_.concurrent,
            .check = args_.check,
            .real_inputs = options_.real_inputs,
            .burst = options_.burst};
  }

  /// Why the largest size can not be run; smaller ones then can not be at fault.
  std::optional<std::string> refuse(const study::SystemSpec& system) const {
    const int gpus = gpus_of(system);
    const sim::Bytes largest =
        whole_elements(options_, sim::Bytes{options_.sizes.back()}, gpus / args_.groups);
    for (const auto* algorithm : options_.algorithms) {
      if (auto why = study::refuse(job_for(system, algorithm, largest, gpus))) return why;
    }
    return std::nullopt;
  }

  int run_one(const study::SystemSpec& system, const coll::Algorithm* algorithm, std::int64_t bytes) {
    if (interrupted()) return kInterrupted;
    report::BenchRow row;
    row.system = system.name;
    row.algo = algorithm != nullptr ? algorithm->name : "program";
    row.proto = "simple";
    row.engine = "sm";
    row.gpus = gpus_of(system);
    row.bytes = whole_elements(options_, sim::Bytes{bytes}, row.gpus / args_.groups);
    row.count = row.bytes.count() / coll::size_of(options_.type).count();
    const study::CollectiveJob job = job_for(system, algorithm, row.bytes, row.gpus);
    const std::string label = fmt::format("{} {} {} B", system.name, row.algo, bytes);
    auto outcome = study::run(job, [&](double share) {
      progress_.show(label, share);
      return !interrupted();
    });
    progress_.clear();
    if (std::holds_alternative<study::Interrupted>(outcome)) return kInterrupted;
    if (const auto* refused = std::get_if<study::JobRefused>(&outcome)) return bad_input(refused->why);
    if (const auto* deadlock = std::get_if<study::Deadlock>(&outcome))
      return report_deadlock(label, *deadlock);
    row.result = std::get<study::CollectiveResult>(outcome);
    wrong_ = wrong_ || row.result.wrong.value_or(0) > 0;
    if (!args_.json) print(report::bench_line(report_, row));
    report_.rows.push_back(std::move(row));
    return kDone;
  }

  static int report_deadlock(const std::string& label, const study::Deadlock& deadlock) {
    constexpr std::size_t kMost = 40;
    fmt::print(stderr, "infold: {}: nothing can happen any more and work is unfinished\n", label);
    for (std::size_t i = 0; i < deadlock.waiting.size() && i < kMost; ++i)
      fmt::print(stderr, "  {}\n", deadlock.waiting[i]);
    if (deadlock.waiting.size() > kMost)
      fmt::print(stderr, "  ... and {} more\n", deadlock.waiting.size() - kMost);
    return kFailed;
  }

  const BenchArguments& args_;
  BenchOptions options_;
  report::BenchReport report_;
  Progress progress_;
  bool wrong_ = false;
};

/// The program takes the place of collective, sizes and algorithm.
int take_program(BenchArguments& args, std::optional<coll::Program>& program) {
  if (!args.collective.empty() || args.gpus > 0)
    return bad_input("--program: the file says which collective and how many GPUs");
  auto loaded = config::load_program(args.program);
  if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*error);
  program = std::move(std::get<config::ProgramFile>(loaded).program);
  args.collective = sim::name_of(program->collective);
  args.root = program->root;
  return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit) {
  CLI::App* command =
      app.add_subcommand("bench", "time a collective over a range of sizes, as nccl-tests does, or a kernel");
  auto args = std::make_shared<BenchArguments>();
  add_bench_arguments(*command, *args);
  command->footer(
      "Example:\n  infold bench all_reduce -b 1M -e 1G -f 2 -g 8 --system dgx-a100,hgx-h100 --algo ring");
  add_bench_kernels(*command, exit);
  command->callback([args, command, &exit] {
    if (!command->get_subcommands().empty()) return;  // a kernel, which has run
    std::optional<coll::Program> program;
    if (!args->program.empty() && (exit = take_program(*args, program)) != kDone) return;
    auto understood = understand(*args);
    if (const auto* complaint = std::get_if<std::string>(&understood)) {
      exit = bad_input(*complaint);
      return;
    }
    auto& options = std::get<BenchOptions>(understood);
    if (program) {
      const std::int64_t bytes = program->bytes.count();
      if (whole_elements(options, program->bytes, program->ranks) != program->bytes) {
        exit = bad_input(fmt::format("--program: {} bytes are not whole elements of {}", bytes, args->dtype));
        return;
      }
      options.sizes = {bytes};
      options.algorithms = {nullptr};
      options.program = std::move(program);
    }
    exit = BenchCommand(*args, std::move(options)).run();
  });
}

}  // namespace infold::cli
