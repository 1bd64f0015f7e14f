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
#include "report/bench_report.h"

namespace infold::cli {

namespace {

/// Sizes are cut to whole elements, and for scatter and gather to whole elements a rank, as nccl-tests does.
std::int64_t elements(const BenchOptions& o, std::int64_t bytes, int gpus) {
  const std::int64_t all = bytes / coll::size_of(o.type).count();
  return o.collective == coll::Collective::kAllReduce ? all : all / gpus * gpus;
}

class BenchCommand {
 public:
  BenchCommand(const BenchArguments& args, BenchOptions options)
      : args_(args), options_(std::move(options)) {}

  int run() {
    const auto systems = load_systems(args_.systems, args_.sets);
    if (!systems) return kBadInput;
    for (const auto& s : *systems) {
      if (args_.gpus > s.machine.gpus) {
        return bad_input(fmt::format("-g: {} has {} GPUs, not {}", s.name, s.machine.gpus, args_.gpus));
      }
      if (auto why = refuse(s)) return bad_input(*why);
    }
    describe(*systems);
    const auto started = std::chrono::steady_clock::now();
    if (!args_.json) print(report::bench_header(report_));
    for (const std::int64_t bytes : options_.sizes) {
      for (const auto& system : *systems) {
        for (const auto* algorithm : options_.algorithms) {
          const int exit = run_one(system, *algorithm, bytes);
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
    report_.op = options_.collective == coll::Collective::kAllGather ? "none" : args_.op;
    for (const auto& s : systems) report_.system += (report_.system.empty() ? "" : ",") + s.name;
    report_.gpus = gpus_of(systems.front());
    for (const auto& s : systems) report_.mixed = report_.mixed || gpus_of(s) != report_.gpus;
  }

  int gpus_of(const study::SystemSpec& system) const {
    return args_.gpus > 0 ? args_.gpus : system.machine.gpus;
  }

  study::CollectiveJob job_for(const study::SystemSpec& system, const coll::Algorithm& algorithm,
                               sim::Bytes bytes, int gpus) const {
    return {.system = &system,
            .algorithm = &algorithm,
            .collective = options_.collective,
            .bytes = bytes,
            .type = options_.type,
            .op = options_.op,
            .gpus = gpus,
            .iterations = args_.iterations,
            .check = args_.check,
            .burst = options_.burst};
  }

  /// Why the largest size can not be run; smaller ones then can not be at fault.
  std::optional<std::string> refuse(const study::SystemSpec& system) const {
    const int gpus = gpus_of(system);
    const sim::Bytes largest = coll::size_of(options_.type) * elements(options_, options_.sizes.back(), gpus);
    for (const auto* algorithm : options_.algorithms) {
      if (auto why = study::refuse(job_for(system, *algorithm, largest, gpus))) return why;
    }
    return std::nullopt;
  }

  int run_one(const study::SystemSpec& system, const coll::Algorithm& algorithm, std::int64_t bytes) {
    if (interrupted()) return kInterrupted;
    report::BenchRow row;
    row.system = system.name;
    row.algo = algorithm.name;
    row.proto = "simple";
    row.engine = "sm";
    row.gpus = gpus_of(system);
    row.count = elements(options_, bytes, row.gpus);
    row.bytes = coll::size_of(options_.type) * row.count;
    const study::CollectiveJob job = job_for(system, algorithm, row.bytes, row.gpus);
    const std::string label = fmt::format("{} {} {} B", system.name, algorithm.name, bytes);
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
    if (args->collective.empty()) {
      exit = bad_input("collective is required; try 'infold bench --help'");
      return;
    }
    auto understood = understand(*args);
    if (const auto* complaint = std::get_if<std::string>(&understood)) {
      exit = bad_input(*complaint);
      return;
    }
    exit = BenchCommand(*args, std::move(std::get<BenchOptions>(understood))).run();
  });
}

}  // namespace infold::cli
