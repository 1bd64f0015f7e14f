// infold validate: runs the commands behind the published figures and says how far off each is.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/app.h"
#include "cli/child.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/systems.h"
#include "config/suggest.h"
#include "config/validation_file.h"
#include "report/validation_report.h"

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
};

using Rows = std::vector<study::ValidationRow>;

/// Keeps the rows whose id is or begins with one of those named. False: complained.
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

/// A file says what is run, so only what simulates and prints may be run: nothing that writes a file, and not
/// validate itself.
std::string refused(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  constexpr std::array<std::string_view, 4> kMay = {"bench", "train", "compare", "explain"};
  if (words.empty() || std::ranges::find(kMay, words.front()) == kMay.end())
    return fmt::format("a figure may come from {}, not from '{}'", fmt::join(kMay, ", "), command);
  for (const std::string_view writes : {"--tune", "--report", "--trace"}) {
    const auto is = [&](const std::string& w) {
      return w == writes || w.starts_with(fmt::format("{}=", writes));
    };
    if (std::ranges::any_of(words, is))
      return fmt::format("{} writes a file, a figure's command may not", writes);
  }
  return {};
}

/// Each command once, however many figures are read from it; several at a time.
class Commands {
 public:
  /// The rows' commands with `more` behind each; a figure is then read with the same `more`.
  void add(const Rows& rows, const std::string& more) {
    for (const auto& row : rows) {
      results_[row.figure.run + more];
      if (row.over) results_[row.over->run + more];
    }
  }

  /// False when it was interrupted.
  bool run(int jobs) {
    for (auto& [command, result] : results_) todo_.push_back({&command, &result});
    Progress progress;
    std::vector<std::jthread> threads;
    const auto workers = std::min(static_cast<std::size_t>(jobs), todo_.size());
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([this] { work(nullptr); });
    work(&progress);
    return !interrupted();
  }

  /// A row's figure, or why there is none.
  std::optional<double> figure(const study::ValidationRow& row, const std::string& more,
                               std::string& why) const {
    const auto figure = read(row.figure, more, why);
    if (!figure || !row.over) return figure;
    const auto other = read(*row.over, more, why);
    if (other == 0.0) why = fmt::format("{} is 0, nothing can be divided by it", row.over->read);
    return other && *other != 0 ? std::optional(*figure / *other) : std::nullopt;
  }

 private:
  std::optional<double> read(const study::Reading& reading, const std::string& more, std::string& why) const {
    const ChildResult& result = results_.at(reading.run + more);
    if (result.exit != kDone) {
      why = fmt::format("'infold {}{}' ended with exit code {}: {}", reading.run, more, result.exit,
                        result.err.substr(0, result.err.find('\n')));
      return std::nullopt;
    }
    const auto number = report::number_at(result.out, reading.read);
    if (!number) why = fmt::format("'infold {}{}' has no number at {}", reading.run, more, reading.read);
    return number;
  }

  struct Todo {
    const std::string* command;
    ChildResult* result;
  };
  void work(Progress* progress) {
    while (!interrupted()) {
      const std::size_t i = next_++;
      if (i >= todo_.size()) return;
      if (progress != nullptr)
        progress->show(*todo_[i].command, static_cast<double>(i) / static_cast<double>(todo_.size()));
      std::vector<std::string> words = words_of(*todo_[i].command);
      words.insert(words.end(), {"--json", "--no-timing"});
      *todo_[i].result = run_child(words);
    }
  }

  std::map<std::string, ChildResult> results_;
  std::vector<Todo> todo_;
  std::atomic<std::size_t> next_ = 0;
};

using Comparisons = std::vector<std::optional<study::Comparison>>;

/// With `more` behind each command. A row whose command fails has none.
Comparisons compare(const Rows& rows, const Commands& commands, const std::string& more, bool complain) {
  Comparisons out;
  for (const auto& row : rows) {
    std::string why;
    const auto figure = commands.figure(row, more, why);
    if (!figure && complain) fmt::print(stderr, "infold: {}: {}\n", row.id, why);
    out.push_back(figure ? std::optional(study::compare(row, *figure)) : std::nullopt);
  }
  return out;
}

std::string changed(const study::CalibratedConstant& c, int percent) {
  return fmt::format(" --set {}={}%", c.path, percent);
}

int validate(const Arguments& args) {
  auto loaded = args.file.empty() ? config::built_in_validation() : config::load_validation(args.file);
  if (const auto* fault = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*fault);
  auto& [rows, constants] = std::get<study::Validation>(loaded);
  if (!pick(args.only, rows)) return kBadInput;
  if (args.sensitivity && constants.empty()) return bad_input("the file names no constants to change");
  for (const auto& row : rows) {
    std::string why = refused(row.figure.run);
    if (why.empty() && row.over) why = refused(row.over->run);
    if (!why.empty()) return bad_input(fmt::format("{}: {}", row.id, why));
  }
  Commands commands;
  commands.add(rows, "");
  if (args.sensitivity) {
    for (const auto& c : constants) {
      for (const int percent : {90, 110}) commands.add(rows, changed(c, percent));
    }
  }
  const int cores = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  if (!commands.run(args.jobs > 0 ? args.jobs : cores)) return kInterrupted;

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
          : args.markdown ? report::validation_markdown(report)
                          : report::validation_text(report));
  }
  const auto ran = [](const auto& c) { return c.has_value(); };
  const auto within = [](const auto& c) { return c && c->within; };
  const bool good = args.strict ? std::ranges::all_of(plain, within) : std::ranges::all_of(plain, ran);
  return good ? kDone : kFailed;
}

}  // namespace

void add_validate(CLI::App& app, int& exit) {
  auto args = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("validate", "compare with published measurements, each with its source");
  command->add_option("file", args->file, "figures of your own (default: those that infold is judged by)");
  command->add_option("--only", args->only, "figures whose id is this or begins with it");
  command->add_option("-j,--jobs", args->jobs, "commands at a time (default: one a core)")
      ->check(CLI::Range(1, 256));
  auto* json = command->add_flag("--json", args->json, "print JSON");
  command->add_flag("--markdown", args->markdown, "print the page docs/validation.md")->excludes(json);
  command->add_flag("--sensitivity", args->sensitivity,
                    "change each calibrated constant by -10 % and +10 % and show which figures move");
  command->add_flag("--strict", args->strict, "exit code 1 unless every figure is within what is accepted");
  command->footer(
      "Examples:\n  infold validate --only h100-ring\n  infold validate my-machine.yaml --strict");
  command->callback([args, &exit] { exit = validate(*args); });
}

}  // namespace infold::cli
