// infold validate: runs the commands behind the published figures and says how far off each is.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/app.h"
#include "cli/child.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/systems.h"
#include "config/validation_file.h"
#include "config/yaml/diagnostic.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "report/validation_report.h"
#include "study/step/many_steps.h"

namespace infold::cli {

namespace {

struct Arguments {
  std::string file;
  std::vector<std::string> only;
  int jobs = 0;
  bool json = false;
  bool markdown = false;
  bool strict = false;
  bool sensitivity = false;
  PageArguments page;
};

using Rows = std::vector<study::ValidationRow>;

/// Keeps the rows whose id equals or begins with one of the given names. Returns false after an error was
/// printed.
bool pick(const std::vector<std::string>& only, Rows& rows) {
  if (only.empty()) return true;
  Rows picked;
  for (const std::string& id : only) {
    const auto names = [&](const study::ValidationRow& row) { return row.id.starts_with(id); };
    if (std::ranges::none_of(rows, names)) {
      std::vector<std::string_view> known;
      for (const auto& row : rows) known.push_back(row.id);
      bad_input(
          fmt::format("no figure has an id that begins with '{}'{}", id, config::did_you_mean(id, known)));
      return false;
    }
  }
  for (auto& row : rows) {
    if (std::ranges::any_of(only, [&](const std::string& id) { return row.id.starts_with(id); }))
      picked.push_back(std::move(row));
  }
  rows = std::move(picked);
  return true;
}

/// What is wrong with the command of a row or with the path to its figure, and its position in the file.
config::Diagnostic fault_at(const std::string& place, std::string message) {
  return {.file = place, .line = 0, .column = 0, .message = std::move(message)};
}

/// Errors in the commands of the rows that can be found without running them.
std::optional<config::Diagnostic> refuse_commands(const Rows& rows) {
  const auto refused = [](const study::CommandFigure& reading) -> std::optional<config::Diagnostic> {
    const std::vector<std::string> words = config::words_of(reading.run);
    std::string why = refuse_child(words);
    if (why.empty()) why = refuse_words(words);
    if (why.empty()) return std::nullopt;
    return fault_at(reading.run_at, fmt::format("run: {}", why));
  };
  for (const auto& row : rows) {
    if (auto wrong = refused(row.figure)) return wrong;
    if (!row.over) continue;
    if (auto wrong = refused(*row.over)) return wrong;
  }
  return std::nullopt;
}

/// Runs each command once, however many figures are read from it, and several at a time.
class Commands {
 public:
  /// Adds the commands of the rows with `more` appended to each; a figure is then read with the same `more`.
  /// A command that is wrong without anything appended is an error of the file. The rows must not move in
  /// memory.
  void add(const Rows& rows, const std::string& more) {
    for (const auto& row : rows) {
      add(row.figure, more);
      if (row.over) add(*row.over, more);
    }
  }

  /// Uses so many threads; 0 means one per core. Returns the error that comes first in the file, whatever the
  /// number of threads; later commands are then not begun. The result is incomplete after an interrupt.
  std::optional<config::Diagnostic> run(int jobs) {
    std::size_t wrong = entries_.size();
    Progress progress;
    std::mutex one;  // guards the members above
    study::in_parallel(entries_.size(), jobs, [&](std::size_t i) {
      Entry& entry = entries_[i];
      {
        const std::lock_guard lock(one);
        if (interrupted() || i > wrong) return;
        progress.show(entry.command, static_cast<double>(i) / static_cast<double>(entries_.size()));
      }
      std::vector<std::string> words = config::words_of(entry.command);
      words.insert(words.end(), {"--json", "--no-timing"});
      entry.result = run_child(words);
      const std::lock_guard lock(one);
      if (i < wrong && fault(entry)) wrong = i;
    });
    return wrong < entries_.size() ? fault(entries_[wrong]) : std::nullopt;
  }

  /// The figure of a row, or why there is none.
  std::optional<double> figure(const study::ValidationRow& row, const std::string& more,
                               std::string& why) const {
    const auto figure = read(row.figure, more, why);
    if (!figure || !row.over) return figure;
    const auto other = read(*row.over, more, why);
    if (other == 0.0) why = fmt::format("{} is 0, nothing can be divided by it", row.over->read);
    return other && *other != 0 ? std::optional(*figure / *other) : std::nullopt;
  }

 private:
  struct Entry {
    std::string command;
    std::vector<const study::CommandFigure*> from;  // the row that names it; none if something was appended
    ChildResult result;
  };

  void add(const study::CommandFigure& reading, const std::string& more) {
    const auto [at, fresh] = index_.emplace(reading.run + more, entries_.size());
    if (fresh) entries_.push_back({.command = at->first, .from = {}, .result = {}});
    if (more.empty()) entries_[at->second].from.push_back(&reading);
  }

  static std::optional<config::Diagnostic> fault(const Entry& entry) {
    for (const study::CommandFigure* reading : entry.from) {
      if (entry.result.exit == kBadInput)
        return fault_at(reading->run_at, fmt::format("run: {}", complaint_of(entry.result)));
      if (entry.result.exit == kDone && !report::number_at(entry.result.out, reading->read)) {
        return fault_at(reading->read_at, fmt::format("read: what 'infold {}' prints has no number at {}",
                                                      entry.command, reading->read));
      }
    }
    return std::nullopt;
  }

  std::optional<double> read(const study::CommandFigure& reading, const std::string& more,
                             std::string& why) const {
    const Entry& entry = entries_[index_.at(reading.run + more)];
    if (entry.result.exit == kDone) return report::number_at(entry.result.out, reading.read);
    why = entry.result.signal != 0
              ? fmt::format("'infold {}' was ended by signal {}", entry.command, entry.result.signal)
              : fmt::format("'infold {}' ended with exit code {}: {}", entry.command, entry.result.exit,
                            complaint_of(entry.result));
    return std::nullopt;
  }

  std::map<std::string, std::size_t> index_;  // by command
  std::vector<Entry> entries_;
};

using Comparisons = std::vector<std::optional<study::Comparison>>;

/// Compares with `more` appended to each command. A row whose command fails has no comparison.
Comparisons compare(const Rows& rows, const Commands& commands, const std::string& more, bool complain) {
  Comparisons out;
  for (const auto& row : rows) {
    std::string why;
    const auto figure = commands.figure(row, more, why);
    if (!figure && complain) bad_input(fmt::format("{}: {}", row.id, why));
    out.push_back(figure ? std::optional(study::compare(row, *figure)) : std::nullopt);
  }
  return out;
}

/// The other choice of a policy, whatever the percentage.
std::string changed(const study::CalibratedConstant& c, int percent) {
  if (!c.instead.empty()) return fmt::format(" --set {}={}", c.path, c.instead);
  return fmt::format(" --set {}={}%", c.path, percent);
}

int validate(const Arguments& args) {
  auto loaded = args.file.empty() ? config::built_in_validation() : config::load_validation(args.file);
  if (const auto* fault = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*fault);
  auto& [rows, constants] = std::get<study::Validation>(loaded);
  if (!pick(args.only, rows)) return kBadInput;
  if (args.sensitivity && constants.empty()) return bad_input("the file names no constants to change");
  if (const auto wrong = refuse_commands(rows)) return bad_file(*wrong);
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  Commands commands;
  commands.add(rows, "");
  if (args.sensitivity) {
    for (const auto& c : constants) {
      for (const int percent : {90, 110}) commands.add(rows, changed(c, percent));
    }
  }
  const auto wrong = commands.run(args.jobs);
  if (interrupted()) return kInterrupted;
  if (wrong) return bad_file(*wrong);

  const Comparisons plain = compare(rows, commands, "", /*complain=*/true);
  if (args.sensitivity) {
    std::vector<report::Sensitivity> moved;
    moved.reserve(constants.size());
    for (const auto& c : constants) {
      moved.push_back({c, compare(rows, commands, changed(c, 90), false),
                       compare(rows, commands, changed(c, 110), false)});
    }
    const report::ValidationReport report{rows, plain};
    print(args.json ? report::sensitivity_json(report, moved) : report::sensitivity_text(report, moved));
  } else {
    const report::ValidationReport report{rows, plain};
    print(args.json       ? report::validation_json(report)
          : args.markdown ? report::validation_markdown(report, constants)
                          : report::validation_text(report));
    if (page.wanted()) {
      if (const int exit = page.write(report::validation_json(report)); exit != kDone) return exit;
    }
  }
  const auto ran = [](const auto& c) { return c.has_value(); };
  const auto within = [](const auto& c) { return c && c->within; };
  const bool good = args.strict ? std::ranges::all_of(plain, within) : std::ranges::all_of(plain, ran);
  return good ? kDone : kFailed;
}

}  // namespace

void add_validate(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<Arguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("validate", "compare with published measurements, each with its source");
  command->add_option("file", args->file, "figures of your own (default: those that infold is judged by)");
  command->add_option("--only", args->only, "figures whose id is this or begins with it");
  command->add_option("-j,--jobs", args->jobs, "commands at a time (default: one a core)")
      ->check(CLI::Range(1, 256));
  auto* json = command->add_flag("--json", args->json, "print JSON");
  auto* markdown =
      command->add_flag("--markdown", args->markdown, "print the page docs/validation.md")->excludes(json);
  auto* sensitivity = command->add_flag(
      "--sensitivity", args->sensitivity,
      "change each calibrated constant by -10 % and +10 %, or a policy to another, and show "
      "which figures move");
  sensitivity->excludes(markdown);
  add_page_argument(*command, args->page)->excludes(sensitivity);
  command->add_flag("--strict", args->strict, "exit code 1 unless every figure is within what is accepted");
  command->footer(
      "Examples:\n  infold validate --only h100-ring\n  infold validate my-machine.yaml --strict");
  command->callback([args, &exit] { exit = validate(*args); });
}

}  // namespace infold::cli
