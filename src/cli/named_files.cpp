// Options that name files have the same names in all commands, so one list serves all of them.
#include "cli/named_files.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "config/catalog.h"
#include "config/study_file.h"
#include "config/sweep_file.h"
#include "config/validation_file.h"
#include "config/yaml/source.h"
#include "sim/file_behind.h"
#include "study/campaign/command_run.h"
#include "study/campaign/sweep_store.h"

namespace infold::cli {

namespace {

/// The kind of value of an option: presets or files that may build on further files, or a single file.
struct InputOption {
  std::string_view name;
  enum class Takes { kSystems, kSpec, kFile } takes;
};
using Takes = InputOption::Takes;
constexpr std::array<InputOption, 6> kInputs = {{{"--system", Takes::kSystems},
                                                 {"--gpu", Takes::kSpec},
                                                 {"--model", Takes::kSpec},
                                                 {"--program", Takes::kFile},
                                                 {"--log", Takes::kFile},
                                                 {"--tuning", Takes::kFile}}};

/// The file itself, whichever path leads to it.
std::filesystem::path file_of(const std::string& path) {
  std::error_code error;
  return sim::file_behind(std::filesystem::absolute(path, error));
}

/// What was typed for an option or argument; empty if it was left out or does not exist.
std::string typed(const CLI::App& command, std::string_view name) {
  const CLI::Option* option = command.get_option_no_throw(std::string(name));
  return option == nullptr || option->results().empty() ? "" : option->results().front();
}

/// The files to read that are known so far, each with what reads it.
class Inputs {
 public:
  struct Input {
    std::string_view reader;
    std::string path;
  };
  const std::vector<Input>& all() const { return all_; }

  /// The value of an option, read by the option itself or by the file that contains it.
  void add_option(std::string_view option, const std::string& value, std::string_view reader) {
    const auto* known = std::ranges::find(kInputs, option, &InputOption::name);
    if (known == kInputs.end()) return;
    if (known->takes == Takes::kFile) return add_file(value, reader);
    for (const std::string& name : known->takes == Takes::kSystems ? split(value) : std::vector{value}) {
      for (const std::string& file : config::files_behind(name)) add_file(file, reader);
    }
  }

  /// The words of a command that a file contains.
  void add_words(const std::vector<std::string>& words, std::string_view reader) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i + 1 < words.size()) add_option(words[i], words[i + 1], reader);
      const std::size_t equals = words[i].find('=');
      if (equals != std::string::npos)
        add_option(words[i].substr(0, equals), words[i].substr(equals + 1), reader);
    }
  }

  void add_words(const study::Sweep& sweep, std::string_view reader) {
    std::vector<std::string> words = sweep.command;
    for (const study::SweepAxis& axis : sweep.axes) {
      for (const study::SweepColumn& column : axis.columns) {
        if (!column.is_option()) continue;
        for (const std::string& value : column.values) study::add_words(column.name, value, words);
      }
    }
    add_words(words, reader);
  }

  // Errors in these files are reported by the command itself when it reads them.
  void add_study(const std::string& name) {
    constexpr std::string_view kReader = "the study";
    if (config::is_file_reference(name)) add_file(name, kReader);
    const auto loaded = config::load_study(name);
    if (!loaded) return;
    for (const config::StudyCase& c : loaded->cases) {
      add_option("--system", c.system, kReader);
      add_option("--model", c.model, kReader);
    }
    for (const config::StudyWindow& w : loaded->windows) add_option("--system", w.system, kReader);
  }

  void add_sweep(const std::string& name) {
    constexpr std::string_view kReader = "the sweep";
    if (config::is_file_reference(name)) add_file(name, kReader);
    const auto loaded = config::load_sweep(name);
    if (loaded) add_words(loaded->sweep, kReader);
  }

  void add_validation(const std::string& file) {
    constexpr std::string_view kReader = "the validation";
    add_file(file, kReader);
    const auto loaded = config::load_validation(file);
    if (!loaded) return;
    for (const study::ValidationRow& row : loaded->rows) {
      add_words(study::words_of(row.figure.run), kReader);
      if (row.over) add_words(study::words_of(row.over->run), kReader);
    }
  }

  void add_import(const std::string& file) { add_file(file, "the command"); }

 private:
  void add_file(const std::string& path, std::string_view reader) { all_.push_back({reader, path}); }

  std::vector<Input> all_;
};

std::vector<OutputPlace> outputs_of(const CLI::App& command) {
  std::vector<OutputPlace> places;
  if (command.get_name() == "sweep") {
    const std::string sweep = typed(command, "file");
    const auto [database, csv] = results_of_sweep(typed(command, "--out"), config::stem_of(sweep));
    places = {{"the sweep's database", database}, {"the sweep's table", csv}};
    for (const std::string_view beside : study::SweepStore::kBeside)
      places.push_back({"the sweep's database", file_of(database).string().append(beside)});
  }
  for (const std::string_view option : kOutputs) {
    if (option == "--out" && command.get_name() == "sweep")
      continue;  // it only begins the names of both files
    if (std::string path = typed(command, option); !path.empty()) places.push_back({option, std::move(path)});
  }
  return places;
}

Inputs inputs_of(const CLI::App& command) {
  Inputs inputs;
  for (const InputOption& option : kInputs) {
    const CLI::Option* given = command.get_option_no_throw(std::string(option.name));
    if (given == nullptr) continue;
    for (const std::string& value : given->results()) {  // --program may be given several times
      if (!value.empty()) inputs.add_option(option.name, value, option.name);
    }
  }
  if (command.get_name() == "replay" || command.get_name() == "import") {
    const CLI::Option* files = command.get_option_no_throw("file");
    for (const std::string& one : files->results()) inputs.add_import(one);
    return inputs;
  }
  if (command.get_name() == "export") inputs.add_import(typed(command, "name"));
  const std::string file = typed(command, command.get_name() == "study" ? "study" : "file");
  if (file.empty()) return inputs;
  if (command.get_name() == "study") inputs.add_study(file);
  if (command.get_name() == "sweep") inputs.add_sweep(file);
  if (command.get_name() == "validate") inputs.add_validation(file);
  return inputs;
}

}  // namespace

SweepResults results_of_sweep(const std::string& out, const std::string& stem) {
  const std::string& name = out.empty() ? stem : out;
  return {.database = name + ".db", .csv = name + ".csv"};
}

std::set<std::string> files_read_by(const study::Sweep& sweep) {
  Inputs inputs;
  inputs.add_words(sweep, "");
  std::set<std::string> files;
  for (const auto& input : inputs.all()) files.insert(input.path);
  return files;
}

sim::Status check_files(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<OutputPlace> outputs = outputs_of(*command);
  if (outputs.empty()) return {};
  std::map<std::filesystem::path, std::string_view> taken;
  for (const OutputPlace& place : outputs) {
    const auto [at, free] = taken.emplace(file_of(place.path), place.option);
    if (!free)
      return sim::fail(fmt::format("{} and {} are the same file: {}", at->second, place.option, place.path));
  }
  const Inputs inputs = inputs_of(*command);
  for (const auto& [reader, path] : inputs.all()) {
    const auto at = taken.find(file_of(path));
    if (at != taken.end())
      return sim::fail(fmt::format("{} would write over {}, which {} reads", at->second, path, reader));
  }
  return {};
}

}  // namespace infold::cli
