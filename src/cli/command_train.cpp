// infold train: one step of a model on one GPU of a system.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/outcome.h"
#include "cli/pick.h"
#include "cli/systems.h"
#include "config/catalog.h"
#include "report/train_report.h"
#include "study/train_run.h"
#include "train/graph.h"

namespace infold::cli {

namespace {

struct Arguments {
  std::string system = "dgx-a100";
  std::string model = "resnet50";
  int batch = 32;
  int accumulate = 1;
  int sequence = 0;
  int gpus = 0;
  std::string dtype = "mixed";
  std::string fusion = "eager";
  std::string optimizer = "sgd";
  bool ignore_memory = false;
  bool json = false;
  bool no_timing = false;
  std::vector<std::string> sets;
};

int run_step(const Arguments& args, const study::SystemSpec& system, const train::Model& model,
             const train::Graph& graph, const train::Recipe& recipe) {
  const gpu::GpuSpec& gpu = system.machine.gpu;
  const auto started = std::chrono::steady_clock::now();
  const auto outcome =
      study::run(gpu, {&graph, recipe, args.ignore_memory}, [](double) { return !interrupted(); });
  if (const int exit = failure(outcome, model.name); exit != kDone) return exit;
  const train::Shape& sample = graph.values.front().shape;
  report::TrainReport report{
      .system = system.name,
      .gpu = gpu.name,
      .model = model.name,
      .batch = args.batch,
      .accumulate = args.accumulate,
      .tokens = sample.kind == train::Shape::Kind::kTokens ? static_cast<int>(sample.height) : 0,
      .dtype = args.dtype,
      .fusion = args.fusion,
      .optimizer = args.optimizer,
      .result = std::get<study::TrainResult>(outcome),
      .wall_s = std::nullopt};
  if (!args.no_timing)
    report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  print(args.json ? report::train_json(report) : report::train_text(report));
  return kDone;
}

int train_command(const Arguments& args) {
  train::Recipe recipe;
  recipe.batch = args.batch;
  recipe.accumulate = args.accumulate;
  for (const auto& wrong :
       {pick("data type", args.dtype, recipe.numbers), pick("fusion", args.fusion, recipe.fusion),
        pick("optimizer", args.optimizer, recipe.optimizer)}) {
    if (wrong) return bad_input(*wrong);
  }
  if (args.gpus != 1) {
    return bad_input(
        "training over several GPUs can not be simulated yet; write --gpus 1 for a step without "
        "communication");
  }
  const auto systems = load_systems(args.system, args.sets);
  if (!systems) return kBadInput;
  if (systems->size() != 1) return bad_input("--system: one system at a time");
  const auto loaded = config::load_model(args.model);
  if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) return bad_file(*error);
  const auto& model = std::get<train::Model>(loaded);
  const auto graph = train::build_graph(model, args.sequence);
  if (const auto* refusal = std::get_if<train::ModelRefusal>(&graph))
    return bad_input(fmt::format("--seq {}: {}: {}", args.sequence, model.name, refusal->why));
  return run_step(args, systems->front(), model, std::get<train::Graph>(graph), recipe);
}

}  // namespace

void add_train(CLI::App& app, int& exit) {
  auto args = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("train", "one training step of a model on a GPU");
  command->add_option("--system", args->system, "a system's name or file")->capture_default_str();
  command->add_option("--model", args->model, "a model's name or file")->capture_default_str();
  command->add_option("--batch", args->batch, "samples a GPU and pass")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--accumulate", args->accumulate, "passes whose gradients are added up before an update")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seq", args->sequence, "tokens of a sequence (the model's usual number if not given)")
      ->check(CLI::Range(1, train::kLargestSide));
  command->add_option("-g,--gpus", args->gpus, "GPUs; at present 1")->check(CLI::Range(1, 4096));
  command->add_option("-d,--dtype", args->dtype, "fp32, tf32, mixed or bf16")->capture_default_str();
  command->add_option("--fusion", args->fusion, "eager (a kernel an operation) or fused")
      ->capture_default_str();
  command->add_option("--optimizer", args->optimizer, "sgd or adam")->capture_default_str();
  command->add_flag("--ignore-memory", args->ignore_memory,
                    "simulate although it does not fit the GPU's memory");
  command->add_option("--set", args->sets, "change a parameter: path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--json", args->json, "print JSON");
  command->add_flag("--no-timing", args->no_timing, "leave out how long the simulation took");
  command->footer(
      "Example:\n"
      "  infold train --system dgx-a100 --model resnet50 --batch 256 --gpus 1\n"
      "  infold train --model bert-large --batch 32 --gpus 1 --fusion fused --optimizer adam");
  command->callback([args, &exit] { exit = train_command(*args); });
}

}  // namespace infold::cli
