// infold sweep: runs one command over many values, into a database that a later run can continue.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/build_mark.h"
#include "cli/child.h"
#include "cli/interrupt.h"
#include "cli/named_files.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/systems.h"
#include "config/sweep_file.h"
#include "report/output/output_file.h"
#include "report/sweep_report.h"
#include "study/campaign/sweep_run.h"

namespace infold::cli {

namespace {

struct Arguments {
  std::string file;
  std::string out;
  int jobs = 0;
  bool fresh = false;
  bool json = false;
  PageArguments page;
};

/// Each value is tried once, with the first values of all others, so that wrong words are found before
/// anything runs.
std::optional<config::Diagnostic> refuse_words_of(const config::SweepFile& file) {
  const study::Sweep& sweep = file.sweep;
  const auto refused = [](const std::vector<std::string>& words) {
    std::string why = refuse_child(words);
    return why.empty() ? refuse_words(words) : why;
  };
  if (std::string why = refused(sweep.command); !why.empty())
    return config::at(file.shown, file.command_at, fmt::format("command: {}", why));
  std::size_t below = sweep.points();
  for (const study::SweepAxis& axis : sweep.axes) {
    below /= axis.size();
    for (std::size_t i = 0; i < axis.size(); ++i) {
      std::string why = refused(sweep.words(i * below));
      if (why.empty()) continue;
      // Of columns that vary together, this is the one that is also refused alone.
      const study::SweepColumn* guilty = &axis.columns.front();
      for (const study::SweepColumn& column : axis.columns) {
        std::vector<std::string> alone = sweep.command;
        study::add_words(column.name, column.values[i], alone);
        if (std::string again = refused(alone); !again.empty()) {
          guilty = &column;
          why = std::move(again);
          break;
        }
      }
      return config::at(file.shown, file.value_at.at(guilty->name)[i],
                        why.starts_with(guilty->name) ? why : fmt::format("{}: {}", guilty->name, why));
    }
  }
  return std::nullopt;
}

/// The systems that the sweep names, each with the parameters that the command sets.
std::vector<study::SystemSpec> systems_of(const study::Sweep& sweep) {
  std::vector<std::string> names;
  std::vector<std::string> sets;
  for (std::size_t i = 0; i + 1 < sweep.command.size(); ++i) {
    if (sweep.command[i] == "--system") names = {sweep.command[i + 1]};
    if (sweep.command[i] == "--set") sets.push_back(sweep.command[i + 1]);
  }
  for (const study::SweepAxis& axis : sweep.axes) {
    for (const study::SweepColumn& column : axis.columns) {
      if (column.name == "--system") names = column.values;
    }
  }
  std::vector<study::SystemSpec> systems;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    for (study::SystemSpec& system : load_systems(name, sets).value_or(std::vector<study::SystemSpec>{}))
      systems.push_back(std::move(system));
  }
  return systems;
}

/// Runs a point as a user would, without output that differs from run to run.
std::optional<study::PointResult> run_point(std::vector<std::string> words) {
  // Points already run side by side.
  if (words.front() == "compare" || words.front() == "explain") words.insert(words.end(), {"--threads", "1"});
  words.insert(words.end(), {"--json", "--no-timing"});
  const ChildResult child = run_child(words);
  // A run that was stopped from outside says nothing about the point.
  const bool stopped = child.signal == SIGKILL || child.signal == SIGTERM || child.signal == SIGINT;
  if (!child.started || stopped || child.exit == kInterrupted) return std::nullopt;
  study::PointResult result;
  result.result = report::one_line_json(child.out).value_or("");
  if (child.exit == kDone && !result.result.empty()) return result;
  result.status = child.exit == kBadInput ? study::PointStatus::kRefused : study::PointStatus::kFailed;
  result.message = complaint_of(child);
  if (child.signal != 0) result.message = fmt::format("ended by signal {}: {}", child.signal, result.message);
  if (result.message.empty()) result.message = fmt::format("exit code {}", child.exit);
  return result;
}

/// The first column to show that is not in the results, and its position in the file.
std::optional<config::Diagnostic> refuse_show(const config::SweepFile& file, const report::SweepTable& table,
                                              bool complete) {
  const auto none = report::refuse_show(file.sweep, table, complete);
  if (!none) return std::nullopt;
  return config::at(file.shown, file.show_at[none->index], none->why);
}

struct Run {
  study::SweepOutcome outcome;
  std::optional<config::Diagnostic> no_column;  ///< why the sweep was not run to its end
};

Run run_points(const config::SweepFile& file, study::SweepStore& store, int jobs) {
  const study::Sweep& sweep = file.sweep;
  Run run;
  Progress progress;
  std::mutex looking;
  bool looked = false;  // whether the first result was checked: a wrong name is reported early
  const auto look = [&](const study::PointResult& result) {
    const std::lock_guard lock(looking);
    if (looked || result.status != study::PointStatus::kDone) return;
    looked = true;
    report::SweepTable table;
    table.add(0, result);
    run.no_column = refuse_show(file, table, /*complete=*/false);
  };
  const auto run_and_look = [&](const std::vector<std::string>& words) {
    auto result = run_point(words);
    if (result) look(*result);
    return result;
  };
  run.outcome = study::run(sweep, store, jobs, run_and_look, [&](const study::SweepProgress& p) {
    progress.show(fmt::format("{}: {} of {} points", sweep.name, p.finished, p.points),
                  static_cast<double>(p.finished) / static_cast<double>(p.points));
    const std::lock_guard lock(looking);
    return !interrupted() && !run.no_column;
  });
  return run;
}

int failed(const std::string& message) {
  bad_input(message);
  return kFailed;
}

/// All points have results: makes the table, and writes the files.
int finish(const Arguments& args, const config::SweepFile& file, study::SweepStore& store,
           const std::string& database, const std::string& csv, PageWriter& page) {
  const study::Sweep& sweep = file.sweep;
  report::SweepTable table;
  if (const auto why =
          store.read([&](std::size_t point, study::PointResult r) { table.add(point, std::move(r)); });
      !why.empty())
    return failed(why);
  const report::SweepReport report{.sweep = sweep, .table = table, .database = database, .csv = csv};
  auto place = report::OutputFile::open(csv);
  if (const auto* why = std::get_if<std::string>(&place)) return failed(*why);
  if (const auto why = std::get<report::OutputFile>(place).commit(report::sweep_csv(report)); !why.empty())
    return failed(why);
  if (const auto why = store.finish(table.columns(), table.rows_key()); !why.empty()) return failed(why);
  if (table.count(study::PointStatus::kRefused) == sweep.points())
    return bad_input(
        fmt::format("{}: no point can be run; the first: {}", sweep.name, table.rows().front().message));
  if (const auto wrong = refuse_show(file, table, /*complete=*/true)) return bad_file(*wrong);
  print(args.json ? report::sweep_json(report) : report::sweep_text(report));
  if (page.wanted()) {
    for (const study::SystemSpec& system : systems_of(sweep)) page.add(system);
    if (const int exit = page.write(report::sweep_json(report)); exit != kDone) return exit;
  }
  return table.count(study::PointStatus::kFailed) > 0 ? kFailed : kDone;
}

int sweep_command(const Arguments& args) {
  const auto loaded = config::load_sweep(args.file);
  if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*error);
  const auto& file = std::get<config::SweepFile>(loaded);
  if (const auto error = refuse_words_of(file)) return bad_file(*error);
  const auto [database, csv] = results_of_sweep(args.out, file.stem);
  // This is checked early, so that a user does not wait for a table that cannot be written.
  if (const auto place = report::OutputFile::open(csv); const auto* why = std::get_if<std::string>(&place))
    return bad_input(*why);
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  auto opened = study::SweepStore::open(
      {.path = database, .made_by = build_mark(files_read_by(file.sweep)), .fresh = args.fresh}, file.sweep);
  if (const auto* why = std::get_if<std::string>(&opened)) return bad_input(*why);
  auto& store = std::get<study::SweepStore>(opened);
  const auto [outcome, no_column] = run_points(file, store, args.jobs);
  if (outcome.complete()) return finish(args, file, store, database, csv, page);
  const std::string kept = fmt::format("{} of {} points are in {}; the same command goes on from there",
                                       outcome.progress.finished, outcome.progress.points, database);
  if (!outcome.store_failed.empty()) return failed(fmt::format("{}; {}", outcome.store_failed, kept));
  if (interrupted()) {
    bad_input(fmt::format("interrupted: {}", kept));
    return kInterrupted;
  }
  if (no_column) {
    config::Diagnostic wrong = *no_column;
    wrong.message += fmt::format("; {}", kept);
    return bad_file(wrong);
  }
  return failed(fmt::format("some points were killed on the way: {}", kept));
}

}  // namespace

void add_sweep(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<Arguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("sweep", "a command over many values, in parallel, into a database and a CSV file");
  command->add_option("file", args->file, "YAML file, or the name of a shipped sweep")->required();
  command->add_option("-o,--out", args->out,
                      "results go to OUT.db and OUT.csv (default: the file's name, here)");
  command->add_option("-j,--jobs", args->jobs, "points at a time (default: one a core)")
      ->check(CLI::Range(1, 256));
  command->add_flag("--fresh", args->fresh, "throw away the results that are there, and begin again");
  command->add_flag("--json", args->json, "print JSON");
  add_page_argument(*command, args->page);
  command->footer(
      "A sweep that was stopped, in whatever way, goes on with the same command.\n"
      "Example:\n  infold sweep table-knee --out knee");
  command->callback([args, &exit] { exit = sweep_command(*args); });
}

}  // namespace infold::cli
