// infold check: tells whether a file is valid.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "cli/app.h"
#include "cli/child.h"
#include "cli/file_checks.h"
#include "cli/interrupt.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "config/any_kind.h"
#include "config/catalog.h"
#include "config/program_file.h"
#include "config/study_file.h"
#include "config/sweep_file.h"
#include "config/validation_file.h"
#include "formats/catalog.h"
#include "formats/import.h"
#include "study/check.h"
#include "study/validation_run.h"
#include "train/graph.h"

namespace infold::cli {

namespace {

/// Checks a file that is not a spec, and returns the first words of the line that is printed about it.
sim::Result<std::string> check_other(const std::string& file, const std::string& kind) {
  if (kind == "program") {
    const auto program = config::load_program(file);
    if (!program) return sim::fail_as(program);
    return fmt::format("program of {} of {} bytes on {} ranks, proved right",
                       sim::name_of(program->own.program.collective), program->own.program.bytes.count(),
                       program->own.program.ranks);
  }
  if (kind == "sweep") {
    const auto sweep = config::load_sweep(file);
    if (!sweep) return sim::fail_as(sweep);
    if (auto right = check_sweep(*sweep); !right) return sim::fail_as(std::move(right));
    return fmt::format("sweep {}, {} points", sweep->sweep.name, sweep->sweep.points());
  }
  if (kind == "study") {
    const auto study = config::load_study(file);
    if (!study) return sim::fail_as(study);
    if (auto right = check_study(*study); !right) return sim::fail_as(std::move(right));
    return fmt::format("study {}, {} cases, {} windows", study->name, study->cases.size(),
                       study->windows.size());
  }
  const auto validation = config::load_validation(file);
  if (!validation) return sim::fail_as(validation);
  if (auto right = study::check_commands(validation->rows, check_command); !right)
    return sim::fail_as(std::move(right));
  return fmt::format("validation, {} figures", validation->rows.size());
}

/// Traces may be too large for what reads other files.
bool is_trace(const std::string& file) {
  const auto format = formats::recognise_file(file);
  return format && formats::is_workload_format(*format);
}

/// A foreign file as the spec that it says, or the line that is printed about what is no spec.
sim::Result<std::variant<config::AnySpec, std::string>> import_spec(const std::string& file,
                                                                    study::PreparingCheck& validate) {
  using Found = std::variant<config::AnySpec, std::string>;
  auto imported = formats::import_file(file);
  if (!imported) return sim::fail_as(std::move(imported));
  if (auto* model = std::get_if<train::Model>(&imported->value))
    return Found{config::AnySpec{std::move(*model)}};
  if (auto* system = std::get_if<study::SystemSpec>(&imported->value)) {
    if (auto valid = validate(*system); !valid) return sim::fail(config::at(file, {}, valid.error().message));
    return Found{config::AnySpec{std::move(*system)}};
  }
  if (const auto* own = std::get_if<coll::OwnProgram>(&imported->value)) {
    return Found{fmt::format("program of {} on {} ranks, proved right", sim::name_of(own->program.collective),
                             own->program.ranks)};
  }
  if (const auto* workload = std::get_if<study::Workload>(&imported->value)) {
    return Found{fmt::format("workload {}, {} operations on {} ranks, which can end", workload->name,
                             workload->graph.operations.size(), workload->graph.ranks())};
  }
  const auto& measured = std::get<formats::Measurements>(imported->value);
  return Found{fmt::format("log of nccl-tests, {} runs", measured.runs.size())};
}

sim::Result<std::variant<config::AnySpec, std::string>> load_spec(const std::string& file,
                                                                  study::PreparingCheck& validate) {
  if (is_trace(file) || formats::format_of(file) != formats::Format::kOurs)
    return import_spec(file, validate);
  return config::load_any(file, std::ref(validate)).map([](auto&& spec) {
    return std::variant<config::AnySpec, std::string>{std::forward<decltype(spec)>(spec)};
  });
}

int check_files(const std::vector<std::string>& files) {
  int exit = kDone;
  for (const std::string& file : files) {
    const std::string shown = printable(file);
    const std::string kind = is_trace(file) ? "" : config::kind_of(file);
    if (kind == "program" || kind == "sweep" || kind == "study" || kind == "validation") {
      const auto what = check_other(file, kind);
      if (interrupted()) return kInterrupted;
      if (what) {
        print(fmt::format("{}: {}: valid\n", shown, *what));
      } else {
        exit = failure(what.error());
      }
      continue;
    }
    study::PreparingCheck validate([] { return !interrupted(); });
    const auto loaded = load_spec(file, validate);
    if (interrupted()) return kInterrupted;
    if (!loaded) {
      exit = failure(loaded.error());
      continue;
    }
    if (const auto* line = std::get_if<std::string>(&*loaded)) {
      print(fmt::format("{}: {}: valid\n", shown, *line));
      continue;
    }
    const config::AnySpec& spec = std::get<config::AnySpec>(*loaded);
    if (const auto* system = std::get_if<study::SystemSpec>(&spec)) {
      print(fmt::format("{}: system {}, {} GPUs of {}: valid\n", shown, system->name,
                        system->machine.all_gpus(), system->machine.gpu.name));
    } else if (const auto* model = std::get_if<train::Model>(&spec)) {
      const train::Graph graph = *train::build_graph(*model);
      print(fmt::format("{}: model {}, {} layers, {} parameters: valid\n", shown, model->name,
                        graph.operations.size(), graph.parameter_count()));
    } else {
      print(fmt::format("{}: gpu {}: valid\n", shown, std::get<gpu::GpuSpec>(spec).name));
    }
  }
  return exit;
}

}  // namespace

void add_check(CLI::App& app, int& exit) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "check",
      "is this file valid: a system, GPU, model, study, sweep, validation, program, workload or trace?");
  command->add_option("file", *files, "files, or names of presets, shipped studies and sweeps")->required();
  command->footer("Example:\n  infold check my-system.yaml");
  command->callback([files, &exit] { exit = check_files(*files); });
}

}  // namespace infold::cli
