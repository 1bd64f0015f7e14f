// infold bench: collectives over a range of sizes, as nccl-tests does it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "cli/app.h"
#include "cli/bench_options.h"
#include "cli/interrupt.h"
#include "cli/named_output.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/systems.h"
#include "cli/trace_file.h"
#include "config/program_file.h"
#include "config/tuning_file.h"
#include "report/bench_report.h"
#include "study/collective/choice.h"

namespace infold::cli {

namespace {

class BenchCommand {
 public:
  BenchCommand(const BenchArguments& args, BenchOptions options)
      : args_(args),
        options_(std::move(options)),
        tuned_({"--tune", args.tune}),
        trace_(args.trace, args.page.typed) {}

  int run() {
    const auto systems = load_systems(args_.systems, args_.sets);
    if (!systems) return kBadInput;
    for (const auto& s : *systems) {
      if (gpus_of(s) > s.machine.gpus) {
        return bad_input(fmt::format("{}: {} has {} GPUs, not {}", options_.program ? "--program" : "-g",
                                     s.name, s.machine.gpus, gpus_of(s)));
      }
      if (auto why = refuse(s)) return bad_input(*why);
      if (!options_.delays.empty() && options_.delays.size() != static_cast<std::size_t>(gpus_of(s))) {
        return bad_input(fmt::format("--delays: {} times for {} GPUs", options_.delays.size(), gpus_of(s)));
      }
    }
    if (const int exit = prepare_tuning(*systems); exit != kDone) return exit;
    PageWriter page(args_.page);
    if (const int exit = page.open(); exit != kDone) return exit;
    for (const auto& s : *systems) page.add(s);
    if (trace_.wanted() && !args_.tune.empty())
      return bad_input("--trace: not with --tune, which tries everything");
    if (const int exit = trace_.open(); exit != kDone) return exit;
    runs_ = options_.sizes.size() * systems->size() * options_.algorithms.size() * options_.protocols.size() *
            options_.engines.size();
    describe(*systems);
    const auto started = std::chrono::steady_clock::now();
    if (!args_.json) print(report::bench_header(report_));
    for (const std::int64_t bytes : options_.sizes) {
      for (const auto& system : *systems) {
        const int exit = run_size(system, bytes);
        if (exit != kDone) return exit;
      }
    }
    if (!args_.no_timing) {
      report_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    }
    print(args_.json ? report::bench_json(report_) : report::bench_footer(report_));
    // A file that cannot be written does not prevent the others from being written.
    int exit = wrong_ ? kFailed : kDone;
    if (page.wanted()) {
      draw_machines(*systems, page);
      exit = std::max(exit, page.write(report::bench_json(report_)));
    }
    exit = std::max(exit, trace_.write());
    if (tuned_.wanted()) exit = std::max(exit, tuned_.write(config::tuning_text(table_)));
    return exit;
  }

 private:
  void describe(const std::vector<study::SystemSpec>& systems) {
    report_.collective = args_.collective;
    report_.dtype = sim::name_of(options_.type);
    report_.op = coll::reduces(options_.collective) ? args_.op : "none";
    for (const auto& s : systems) report_.system += (report_.system.empty() ? "" : ",") + s.name;
    report_.gpus = gpus_of(systems.front());
    report_.residency = args_.residency || !args_.skew.empty() || !args_.delays.empty();
    for (const auto& s : systems) report_.mixed = report_.mixed || gpus_of(s) != report_.gpus;
  }

  int gpus_of(const study::SystemSpec& system) const {
    if (options_.program) return options_.program->ranks * args_.groups;
    return args_.gpus > 0 ? args_.gpus : system.machine.gpus;
  }

  study::CollectiveJob job_for(const study::SystemSpec& system, sim::Bytes bytes, int gpus) const {
    return {.system = &system,
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
            .burst = options_.burst,
            .delays = !args_.skew.empty() ? study::skewed(gpus, options_.skew, args_.seed) : options_.delays,
            .fault = options_.fault};
  }

  /// Why the largest size cannot be run; smaller sizes cannot fail for the same reason then.
  std::optional<std::string> refuse(const study::SystemSpec& system) const {
    const int gpus = gpus_of(system);
    study::CollectiveJob job = job_for(
        system, whole_elements(options_, sim::Bytes{options_.sizes.back()}, gpus / args_.groups), gpus);
    for (const coll::Engine engine : options_.engines) {
      job.engine = engine;
      for (const auto* algorithm : options_.algorithms) {
        for (const auto protocol : options_.protocols) {
          if (auto why = refuse(job, algorithm, protocol)) return why;
        }
      }
    }
    return std::nullopt;
  }

  /// What was asked for by name is refused with the reason; of what is left to auto, at least one must be
  /// possible.
  static std::optional<std::string> refuse(study::CollectiveJob job, const coll::Algorithm* algorithm,
                                           std::optional<coll::Protocol> protocol) {
    const std::vector<study::Choice> offers = study::offers_of(job, algorithm, protocol);
    job.algorithm = offers.empty() ? algorithm : offers.front().algorithm;
    job.protocol = protocol.value_or(coll::Protocol::kSimple);
    if (job.algorithm == nullptr && job.program == nullptr) return study::why_no_offers(job, protocol);
    return study::refuse(job);
  }

  /// Reads the table to choose by, or begins a new one.
  int prepare_tuning(const std::vector<study::SystemSpec>& systems) {
    if (args_.tune.empty() && args_.tuning.empty()) return kDone;
    if (!args_.tune.empty() && !args_.tuning.empty())
      return bad_input("--tune and --tuning: give one of them");
    if (systems.size() > 1) return bad_input("--tune and --tuning are for one system");
    if (options_.engines.size() > 1) return bad_input("--tune and --tuning are for one engine");
    if (!args_.tune.empty()) {
      table_ = {options_.collective, systems.front().name, gpus_of(systems.front()), {}};
      return tuned_.open();
    }
    auto loaded = config::load_tuning(args_.tuning);
    if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*error);
    table_ = std::move(std::get<study::TuningTable>(loaded));
    if (auto why = table_.refuse(job_for(systems.front(), {}, gpus_of(systems.front()))))
      return bad_input(fmt::format("{}: {}", args_.tuning, *why));
    return kDone;
  }

  /// The machines with the largest messages, and what was published about them.
  void draw_machines(const std::vector<study::SystemSpec>& systems, PageWriter& page) const {
    const bool whole =
        std::ranges::all_of(systems, [&](const auto& s) { return gpus_of(s) == s.machine.gpus; });
    if (whole && args_.sets.empty()) page.add_published(args_.collective);
    for (const report::BenchRow& row : report_.rows) {
      if (row.bytes == report_.rows.back().bytes)
        page.add(fmt::format("{} on {}", row.algo, row.system), row.bytes.count(), row.result.links);
    }
  }

  /// Everything that was asked for at one size: each combination, of which "auto" is one.
  int run_size(const study::SystemSpec& system, std::int64_t bytes) {
    const int gpus = gpus_of(system);
    study::CollectiveJob job =
        job_for(system, whole_elements(options_, sim::Bytes{bytes}, gpus / args_.groups), gpus);
    for (const coll::Engine engine : options_.engines) {
      job.engine = engine;
      if (const int exit = run_offers(job); exit != kDone) return exit;
    }
    return kDone;
  }

  int run_offers(const study::CollectiveJob& job) {
    std::vector<std::pair<study::Choice, sim::Time>> tried;
    for (const auto* algorithm : options_.algorithms) {
      for (const auto protocol : options_.protocols) {
        std::vector<study::Choice> offers = study::offers_of(job, algorithm, protocol);
        const bool chosen =
            args_.tune.empty() && job.program == nullptr && (algorithm == nullptr || !protocol);
        if (chosen) offers = {choose(job, offers)};
        for (const study::Choice& choice : offers) {
          if (const int exit = run_one(job, choice, chosen); exit != kDone) return exit;
          tried.emplace_back(choice, report_.rows.back().result.time);
        }
      }
    }
    if (!args_.tune.empty()) tune(job, tried);
    return kDone;
  }

  /// The best of a size goes into the table, and the loss of auto is reported.
  void tune(const study::CollectiveJob& job, const std::vector<std::pair<study::Choice, sim::Time>>& tried) {
    const auto& best = *std::ranges::min_element(tried, {}, [](const auto& t) { return t.second; });
    table_.add(job.bytes, best.first);
    std::vector<study::Choice> offers;
    offers.reserve(tried.size());
    for (const auto& [choice, time] : tried) offers.push_back(choice);
    const study::Trial measured = [&](const study::Choice& choice) {
      return tried[static_cast<std::size_t>(std::ranges::find(offers, choice) - offers.begin())].second;
    };
    const auto go_on = [] { return !interrupted(); };
    const bool tries = static_cast<bool>(study::simulated(job));
    const sim::Time time = measured(study::choose(job, offers, go_on, tries ? measured : study::Trial{}));
    const double share = time.in_us() / best.second.in_us() - 1;
    if (!report_.auto_loss || share > report_.auto_loss->share) report_.auto_loss = {share, job.bytes};
  }

  /// Takes the choice of the table, if it is among the offers; otherwise chooses by estimate and trial.
  study::Choice choose(const study::CollectiveJob& job, const std::vector<study::Choice>& offers) const {
    if (!args_.tuning.empty()) {
      const study::Choice choice = table_.at(job.bytes);
      if (std::ranges::find(offers, choice) != offers.end()) return choice;
    }
    const auto go_on = [] { return !interrupted(); };
    return study::choose(job, offers, go_on, study::simulated(job, go_on));
  }

  int run_one(study::CollectiveJob job, const study::Choice& choice, bool chosen) {
    if (interrupted()) return kInterrupted;
    job.algorithm = choice.algorithm;
    job.protocol = choice.protocol;
    job.trace = trace_.spec(runs_);
    report::BenchRow row;
    row.system = job.system->name;
    row.algo = choice.algorithm != nullptr ? choice.algorithm->name : "program";
    row.proto = sim::name_of(choice.protocol);
    row.chosen = chosen;
    row.gpus = job.gpus;
    row.bytes = job.bytes;
    row.count = job.bytes.count() / coll::size_of(job.type).count();
    if (!args_.tune.empty() && choice.algorithm != nullptr) row.estimate_us = study::estimate_us(job, choice);
    row.fault = args_.fail;
    const std::string label =
        fmt::format("{} {} {} {} B", row.system, row.algo, row.proto, row.bytes.count());
    auto outcome = study::run(job, [&](double share) {
      progress_.show(label, share);
      return !interrupted();
    });
    progress_.clear();
    if (const auto* refused = std::get_if<study::JobRefused>(&outcome)) return bad_input(refused->why);
    if (const int exit = failure(outcome, label); exit != kDone) return exit;
    row.result = std::move(std::get<study::CollectiveResult>(outcome));
    if (row.result.trace)
      trace_.add_after(job.system->name, label, *std::exchange(row.result.trace, std::nullopt));
    row.engine = sim::name_of(row.result.engine);
    wrong_ = wrong_ || row.result.wrong.value_or(0) > 0;
    if (!args_.json) print(report::bench_line(report_, row));
    report_.rows.push_back(std::move(row));
    return kDone;
  }

  const BenchArguments& args_;
  BenchOptions options_;
  report::BenchReport report_;
  study::TuningTable table_;  // the table being written, or the one to choose by
  NamedOutput tuned_;
  TraceWriter trace_;
  std::size_t runs_ = 1;  // that share the trace
  Progress progress_;
  bool wrong_ = false;
};

/// The program replaces collective, sizes and algorithm.
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

void add_bench(CLI::App& app, const std::string& typed, int& exit) {
  CLI::App* command =
      app.add_subcommand("bench", "time a collective over a range of sizes, as nccl-tests does, or a kernel");
  auto args = std::make_shared<BenchArguments>();
  args->page.typed = typed;
  add_bench_arguments(*command, *args);
  command->footer(
      "Example:\n  infold bench all_reduce -b 1M -e 1G -f 2 -g 8 --system dgx-a100,hgx-h100 --algo ring");
  add_bench_kernels(*command, typed, exit);
  command->callback([args, command, &exit] {
    if (!command->get_subcommands().empty()) return;  // a kernel was named, and has run
    std::optional<coll::Program> program;
    for (const char* option : {"--algo", "--proto", "--engine", "--tune", "--tuning"}) {
      if (args->program.empty() || command->count(option) == 0) continue;
      exit = bad_input(fmt::format("{}: --program brings its own steps; leave it out", option));
      return;
    }
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
      options.engines = {program->engine};
      options.program = std::move(program);
    }
    exit = BenchCommand(*args, std::move(options)).run();
  });
}

}  // namespace infold::cli
