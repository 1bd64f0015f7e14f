// infold learn: trains a small network, with its gradients summed by the simulated machine.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/pick.h"
#include "cli/options/systems.h"
#include "cli/options/what_if.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "config/study_file.h"
#include "config/yaml/field_text.h"
#include "report/learn_report.h"
#include "study/hypothetical.h"
#include "study/learn_run.h"

namespace infold::cli {

namespace {

struct LearnArguments {
  std::string system = "dgx-a100";
  int gpus = 0;
  std::string algorithms = "ring";
  std::string protocol = "auto";
  std::string dtype = "fp32";
  std::string hidden = "16,16";
  int batch = 16;
  int steps = 200;
  float rate = 0.2F;
  std::uint64_t seed = 1;
  std::vector<std::string> sets;
  int nodes = 0;
  WhatIf what_if;
  bool json = false;
};

sim::Status pick_hidden(const std::string& list, std::vector<int>& hidden) {
  constexpr int kWidest = 256;
  constexpr std::size_t kDeepest = 8;
  hidden.clear();
  for (const std::string& word : split(list)) {
    int neurons = 0;
    auto assigned =
        config::assign("--hidden", word, config::Dialect::kFile, neurons, sim::between(1, kWidest));
    if (!assigned) return assigned;
    hidden.push_back(neurons);
  }
  if (hidden.size() > kDeepest) return sim::fail(fmt::format("--hidden: more than {} layers", kDeepest));
  return {};
}

sim::Status pick_numbers(const LearnArguments& args, study::LearnJob& job) {
  if (auto e = pick_hidden(args.hidden, job.hidden); !e) return e;
  if (auto e = pick("data type", args.dtype, job.type); !e) return e;
  if (job.type == coll::DataType::kInt32) return sim::fail("-d: gradients are no integers");
  if (args.protocol != "auto") {
    auto e = pick("protocol", args.protocol, job.protocol.emplace());
    if (!e) return sim::fail(e.error().message + ", auto");
  }
  job.batch = args.batch;
  job.steps = args.steps;
  job.rate = args.rate;
  job.seed = args.seed;
  return {};
}

int learn_command(const LearnArguments& args) {
  study::LearnJob job;
  if (const auto e = pick_numbers(args, job); !e) return failure(e.error());
  std::vector<study::Method> methods;
  for (const std::string& text : split(args.algorithms)) {
    const auto method = config::parse_method(text);
    if (!method) return failure(method.error());
    methods.push_back(*method);
  }
  const auto system = load_one_system(args.system, with_nodes(args.sets, args.nodes));
  if (!system) return failure(system.error());
  job.system = *system;
  const int there = job.system->machine.all_gpus();
  if (args.gpus > there)
    return bad_input(fmt::format("--gpus {}: {} has {}", args.gpus, job.system->name, there));
  job.gpus = args.gpus > 0 ? args.gpus : there;
  if (job.gpus == 1) return bad_input("one GPU has nothing to communicate with; take two or more");
  for (const study::Method& method : methods) {
    const auto built = study::check_built(*job.system, method, args.what_if.inc());
    if (!built) return failure(built.error());
  }
  report::LearnReport report{.system = job.system->name,
                             .gpus = job.gpus,
                             .batch = job.batch,
                             .dtype = args.dtype,
                             .built = job.system->machine.inc.unit,
                             .runs = {}};
  Progress progress;
  bool wrong = false;
  for (const study::Method& method : methods) {
    job.method = method;
    const std::string label = study::name_of(method);
    auto outcome = study::run(job, [&](double share) {
      progress.show(label, share);
      return !interrupted();
    });
    progress.clear();
    if (!outcome) return failure(outcome.error(), methods.size() > 1 ? label : "");
    report.runs.push_back(std::move(*outcome));
    wrong = wrong || report.runs.back().wrong > 0;
  }
  print(args.json ? report::learn_json(report) : report::learn_text(report));
  return wrong ? kFailed : kDone;
}

}  // namespace

void add_learn(CLI::App& app, int& exit) {
  auto args = std::make_shared<LearnArguments>();
  CLI::App* command = app.add_subcommand(
      "learn", "train a small network for real, its gradients summed by the simulated machine");
  command->add_option("--system", args->system, "a system's name or file")->capture_default_str();
  command
      ->add_option("-g,--gpus,--ngpus", args->gpus,
                   "use this many GPUs, the first ones of the system (default: all)")
      ->check(CLI::Range(1, net::kMostGpus));
  command
      ->add_option(
          "--algo", args->algorithms,
          "algorithms, with commas, each of which trains anew; auto: choose; ring@dma: on another engine")
      ->capture_default_str();
  command->add_option("--proto", args->protocol, "wire protocol: simple, ll, ll128 or auto")
      ->capture_default_str();
  command->add_option("-d,--datatype", args->dtype, "type in which gradients travel: fp32, fp16 or bf16")
      ->capture_default_str();
  command->add_option("--hidden", args->hidden, "neurons of each hidden layer")->capture_default_str();
  command->add_option("--batch", args->batch, "samples per GPU and step")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--steps", args->steps, "steps of training")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--rate", args->rate, "learning rate")
      ->check([](const std::string& typed) {
        // A NaN passes every range check.
        return typed.find_first_of("nN") == std::string::npos ? "" : "a number from 1e-06 to 10";
      })
      ->check(CLI::Range(1e-6, 10.0))
      ->capture_default_str();
  command->add_option("--seed", args->seed, "seed of data and first weights")
      ->capture_default_str()
      ->check(valid_seed);
  add_nodes_argument(*command, args->nodes);
  command->add_option("--set", args->sets, "change a parameter: path=value; may be repeated")
      ->allow_extra_args(false);
  add_what_if_argument(*command, args->what_if);
  command->add_flag("--json", args->json, "print JSON");
  command->footer(
      "Example:\n"
      "  infold learn --system klenk-16 -g 8 --algo ring,nvls,inc-push --set inc.order=rank");
  command->callback([args, &exit] { exit = learn_command(*args); });
}

}  // namespace infold::cli
