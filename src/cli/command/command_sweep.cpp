// infold sweep: runs one command over many values, into a database that a later run can continue.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/build_mark.h"
#include "cli/child.h"
#include "cli/file_checks.h"
#include "cli/interrupt.h"
#include "cli/named_files.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "config/sweep_file.h"
#include "report/campaign/sweep_report.h"
#include "report/output/output_file.h"
#include "study/campaign/point_run.h"
#include "study/campaign/sweep_check.h"
#include "study/campaign/sweep_run.h"

namespace infold::cli {

namespace {

struct SweepArguments {
  std::string file;
  std::string out;
  int jobs = 0;
  bool fresh = false;
  bool json = false;
  PageArguments page;
};

/// A system that cannot be loaded has no place on the page.
void add_systems(const study::Sweep& sweep, PageWriter& page) {
  const auto [names, sets] = study::systems_named_by(sweep);
  for (const std::string& name : names) {
    const auto systems = load_systems(name, sets);
    if (!systems) {
      failure(systems.error());
      continue;
    }
    for (const study::SystemPtr& system : *systems) page.add(*system);
  }
}

/// Refuses the first column to show that is not in the results, with its place in the file.
sim::Status check_show(const config::SweepFile& file, const report::SweepTable& table, bool complete) {
  const auto none = report::find_missing_column(file.sweep, table, complete);
  if (!none) return {};
  return sim::fail(config::at(file.shown, file.show_at[none->index], none->why));
}

study::SweepOutcome run_points(const config::SweepFile& file, study::SweepStore& store, int jobs) {
  const study::Sweep& sweep = file.sweep;
  Progress progress;
  const auto run_point = [](const std::vector<std::string>& words) {
    return study::result_of_point(run_child(study::words_of_point(words)), report::one_line_json);
  };
  // A user should not have to wait for all results to learn of a wrong name.
  const auto check_first = [&](const study::PointResult& result) {
    report::SweepTable table;
    table.add(0, result);
    return check_show(file, table, /*complete=*/false);
  };
  const auto goes_on = [&](const study::SweepProgress& p) {
    progress.show(fmt::format("{}: {} of {} points", sweep.name, p.finished, p.points),
                  static_cast<double>(p.finished) / static_cast<double>(p.points));
    return !interrupted();
  };
  return study::run(sweep, store, jobs, run_point, goes_on, check_first);
}

int failed(const std::string& message) {
  bad_input(message);
  return kFailed;
}

/// Makes the table and writes the files, when all points have results.
int finish(const SweepArguments& args, const config::SweepFile& file, study::SweepStore& store,
           const std::string& database, const std::string& csv, PageWriter& page) {
  const study::Sweep& sweep = file.sweep;
  report::SweepTable table;
  const auto read =
      store.read([&](std::size_t point, study::PointResult r) { table.add(point, std::move(r)); });
  if (!read) return failed(read.error().message);
  const report::SweepReport report{.sweep = sweep, .table = table, .database = database, .csv = csv};
  auto place = report::OutputFile::open(csv);
  if (!place) return failed(place.error().message);
  if (const auto e = place->commit(report::sweep_csv(report)); !e) return failed(e.error().message);
  if (const auto e = store.finish(table.columns(), table.rows_key()); !e) return failed(e.error().message);
  if (table.count(study::PointStatus::kRefused) == sweep.points())
    return bad_input(
        fmt::format("{}: no point can be run; the first: {}", sweep.name, table.rows().front().message));
  if (const auto e = check_show(file, table, /*complete=*/true); !e) return failure(e.error());
  print(args.json ? report::sweep_json(report) : report::sweep_text(report));
  if (page.wanted()) {
    add_systems(sweep, page);
    if (interrupted()) return kInterrupted;
    if (const int exit = page.write(report::sweep_json(report)); exit != kDone) return exit;
  }
  return table.count(study::PointStatus::kFailed) > 0 ? kFailed : kDone;
}

int sweep_command(const SweepArguments& args) {
  const auto loaded = config::load_sweep(args.file);
  if (!loaded) return failure(loaded.error());
  const config::SweepFile& file = *loaded;
  if (const auto e = check_sweep(file); !e) return failure(e.error());
  const auto [database, csv] = results_of_sweep(args.out, file.stem);
  // A user should not have to wait for a table that cannot be written.
  if (const auto place = report::OutputFile::open(csv); !place) return failure(place.error());
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  auto store = study::SweepStore::open(
      {.path = database, .made_by = build_mark(files_read_by(file.sweep)), .fresh = args.fresh}, file.sweep);
  if (!store) return failure(store.error());
  const study::SweepOutcome outcome = run_points(file, *store, args.jobs);
  if (outcome.complete()) return finish(args, file, *store, database, csv, page);
  const std::string kept = fmt::format("{} of {} points are in {}; the same command goes on from there",
                                       outcome.progress.finished, outcome.progress.points, database);
  if (!outcome.stored) return failed(fmt::format("{}; {}", outcome.stored.error().message, kept));
  if (interrupted()) {
    bad_input(fmt::format("interrupted: {}", kept));
    return kInterrupted;
  }
  if (!outcome.first) {
    sim::Error wrong = outcome.first.error();
    wrong.message += fmt::format("; {}", kept);
    return failure(wrong);
  }
  return failed(fmt::format("some points were killed on the way: {}", kept));
}

}  // namespace

void add_sweep(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<SweepArguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("sweep", "a command over many values, in parallel, into a database and a CSV file");
  command->add_option("file", args->file, "YAML file, or the name of a shipped sweep")->required();
  command->add_option("-o,--out", args->out,
                      "results go to OUT.db and OUT.csv (default: the file's name, here)");
  command->add_option("-j,--jobs", args->jobs, "points at a time (default: one per core)")
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
