// infold check: tells whether a file is valid.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/outcome.h"
#include "cli/systems.h"
#include "config/catalog.h"
#include "study/check.h"
#include "train/graph.h"

namespace infold::cli {

namespace {

int check_files(const std::vector<std::string>& files) {
  int exit = kDone;
  for (const std::string& file : files) {
    study::PreparingCheck validate([] { return !interrupted(); });
    const auto loaded = config::load_any(file, std::ref(validate));
    if (interrupted()) return kInterrupted;
    if (!loaded) {
      exit = failure(loaded.error());
      continue;
    }
    const config::AnySpec& spec = *loaded;
    if (const auto* system = std::get_if<study::SystemSpec>(&spec)) {
      print(fmt::format("{}: system {}, {} GPUs of {}: valid\n", file, system->name, system->machine.gpus,
                        system->machine.gpu.name));
    } else if (const auto* model = std::get_if<train::Model>(&spec)) {
      const train::Graph graph = *train::build_graph(*model);
      print(fmt::format("{}: model {}, {} layers, {} parameters: valid\n", file, model->name,
                        graph.operations.size(), graph.parameter_count()));
    } else {
      print(fmt::format("{}: gpu {}: valid\n", file, std::get<gpu::GpuSpec>(spec).name));
    }
  }
  return exit;
}

}  // namespace

void add_check(CLI::App& app, int& exit) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("check", "is this system, GPU or model file valid?");
  command->add_option("file", *files, "YAML files, or names of presets")->required();
  command->footer("Example:\n  infold check my-system.yaml");
  command->callback([files, &exit] { exit = check_files(*files); });
}

}  // namespace infold::cli
