// Runs the commands of all rows as one list without repetition, on several threads.
#include "study/validation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "study/step/many_steps.h"

namespace infold::study {

namespace {

using Rows = std::vector<ValidationRow>;

sim::Failure fault_at(const sim::Place& place, std::string message) {
  return sim::fail(sim::Error{.message = std::move(message), .place = place});
}

class Commands {
 public:
  explicit Commands(const ValidationJob& job) : job_(job) {}

  /// Adds the commands of the rows with `more` behind each; a figure is then read with the same `more`. An
  /// error of a command with nothing behind it is an error of the file. The rows must stay where they are in
  /// memory.
  void add(const Rows& rows, const std::string& more) {
    for (const auto& row : rows) {
      add(row.figure, more);
      if (row.over) add(*row.over, more);
    }
  }

  sim::Status run(const ValidationGoesOn& goes_on) {
    std::size_t wrong = entries_.size();
    bool stopped = false;
    std::mutex one;  // one thread at a time uses the members above
    in_parallel(entries_.size(), job_.threads, [&](std::size_t i) {
      Entry& entry = entries_[i];
      {
        const std::lock_guard lock(one);
        const double share = static_cast<double>(i) / static_cast<double>(entries_.size());
        if (stopped || i > wrong) return;
        stopped = !goes_on(entry.command, share);
        if (stopped) return;
      }
      entry.run = job_.run(words_for_result(words_of(entry.command)));
      const std::lock_guard lock(one);
      if (i < wrong && !check(entry)) wrong = i;
    });
    if (stopped || (!entries_.empty() && !goes_on(entries_.back().command, 1))) return sim::interrupted();
    return wrong < entries_.size() ? check(entries_[wrong]) : sim::Status{};
  }

  sim::Result<double> figure(const ValidationRow& row, const std::string& more) const {
    auto figure = read(row.figure, more);
    if (!figure || !row.over) return figure;
    auto other = read(*row.over, more);
    if (!other) return other;
    if (*other == 0) return sim::fail(fmt::format("{} is 0, nothing can be divided by it", row.over->read));
    return *figure / *other;
  }

 private:
  struct Entry {
    std::string command;
    std::vector<const CommandFigure*>
        from;  // the places in the file that name it; empty if `more` is behind it
    CommandRun run;
  };

  void add(const CommandFigure& figure, const std::string& more) {
    const auto [at, fresh] = index_.emplace(figure.run + more, entries_.size());
    if (fresh) entries_.push_back({.command = at->first, .from = {}, .run = {}});
    if (more.empty()) entries_[at->second].from.push_back(&figure);
  }

  sim::Status check(const Entry& entry) const {
    for (const CommandFigure* figure : entry.from) {
      if (entry.run.end == CommandRun::End::kRefused)
        return fault_at(figure->run_at, fmt::format("run: {}", entry.run.complaint));
      if (entry.run.end == CommandRun::End::kDone && !job_.read(entry.run.out, figure->read)) {
        return fault_at(figure->read_at, fmt::format("read: what 'infold {}' prints has no number at {}",
                                                     entry.command, figure->read));
      }
    }
    return {};
  }

  sim::Result<double> read(const CommandFigure& figure, const std::string& more) const {
    const Entry& entry = entries_[index_.at(figure.run + more)];
    if (entry.run.end == CommandRun::End::kDone) {
      const auto number = job_.read(entry.run.out, figure.read);
      if (number) return *number;
      return sim::fail("");  // a changed constant has no message
    }
    if (entry.run.signal != 0)
      return sim::fail(fmt::format("'infold {}' was ended by signal {}", entry.command, entry.run.signal));
    return sim::fail(fmt::format("'infold {}' ended with exit code {}: {}", entry.command, entry.run.exit,
                                 entry.run.complaint));
  }

  const ValidationJob& job_;
  std::map<std::string, std::size_t> index_;  // by command
  std::vector<Entry> entries_;
};

/// Compares all rows, with `more` behind each command. A row whose command fails has no comparison, and adds
/// the reason to `failed`.
Comparisons compare_all(const Rows& rows, const Commands& commands, const std::string& more,
                        std::vector<std::string>* failed) {
  Comparisons out;
  for (const auto& row : rows) {
    const auto figure = commands.figure(row, more);
    if (!figure && failed != nullptr)
      failed->push_back(fmt::format("{}: {}", row.id, figure.error().message));
    out.push_back(figure ? std::optional(compare(row, *figure)) : std::nullopt);
  }
  return out;
}

/// A policy has one other choice, whatever the percentage.
std::string changed(const CalibratedConstant& c, int percent) {
  if (!c.instead.empty()) return fmt::format(" --set {}={}", c.path, c.instead);
  return fmt::format(" --set {}={}%", c.path, percent);
}

constexpr int kSmaller = 90;  // percent
constexpr int kLarger = 110;

}  // namespace

sim::Status keep_only(std::span<const std::string> ids, std::vector<ValidationRow>& rows) {
  if (ids.empty()) return {};
  for (const std::string& id : ids) {
    if (std::ranges::none_of(rows, [&](const ValidationRow& row) { return row.id.starts_with(id); }))
      return sim::fail(fmt::format("no figure has an id that begins with '{}'", id), id);
  }
  std::erase_if(rows, [&](const ValidationRow& row) {
    return std::ranges::none_of(ids, [&](const std::string& id) { return row.id.starts_with(id); });
  });
  return {};
}

sim::Status check_commands(std::span<const ValidationRow> rows, const CheckCommand& check) {
  const auto check_one = [&](const CommandFigure& figure) -> sim::Status {
    const auto checked = check(words_of(figure.run));
    if (checked) return {};
    return fault_at(figure.run_at, fmt::format("run: {}", checked.error().message));
  };
  for (const auto& row : rows) {
    if (auto checked = check_one(row.figure); !checked) return checked;
    if (!row.over) continue;
    if (auto checked = check_one(*row.over); !checked) return checked;
  }
  return {};
}

sim::Result<ValidationResult> run(const ValidationJob& job, const ValidationGoesOn& goes_on) {
  const auto& [rows, constants] = job.validation;
  Commands commands(job);
  commands.add(rows, "");
  if (job.sensitivity) {
    for (const CalibratedConstant& c : constants) {
      for (const int percent : {kSmaller, kLarger}) commands.add(rows, changed(c, percent));
    }
  }
  if (auto ran = commands.run(goes_on); !ran) return sim::fail_as(std::move(ran));
  ValidationResult result;
  result.plain = compare_all(rows, commands, "", &result.failed);
  if (!job.sensitivity) return result;
  for (const CalibratedConstant& c : constants) {
    result.sensitivity.push_back({c, compare_all(rows, commands, changed(c, kSmaller), nullptr),
                                  compare_all(rows, commands, changed(c, kLarger), nullptr)});
  }
  return result;
}

}  // namespace infold::study
