// The options that train, compare and explain share: which model on which machine, and how gradients are
// reduced.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/fidelity_options.h"
#include "cli/options/run_arguments.h"
#include "report/step_report.h"
#include "sim/result.h"
#include "study/step/step_run.h"
#include "study/step/train_run.h"
#include "train/graph.h"
#include "train/model.h"

namespace CLI {
class App;
}

namespace infold::cli {

class Effects;

/// The options as typed.
struct TrainArguments : RunArguments {
  std::string system = "dgx-a100";
  std::string model = "resnet50";
  int batch = 32;
  int accumulate = 1;
  int sequence = 0;
  int gpus = 0;
  train::Layout layout{.dp = 0};
  std::string sp;
  double expert_skew = 1;
  std::string key_exchange = "all-gather";
  std::string expert_exchange = "all-to-all";
  std::string schedule = "1f1b";
  int virtual_stages = 2;
  int micro_batches = 1;
  std::string dtype = "mixed";
  std::string fusion = "eager";
  std::string optimizer = "sgd";
  std::string recompute = "none";
  bool ignore_memory = false;
  std::string sync = "ddp";
  std::string bucket;
  std::string first_bucket;
  bool view = false;
  std::string fusion_size;
  std::string cycle;
  int packs = 1;
  int shard = 8;
  std::string reshard = "on";
  std::string reduce_dtype = "fp32";
  std::string algorithms = "ring";
  std::string engine = "sm";
  std::string gather_engine;
  std::string protocol = "auto";
  int channels = 0;
  std::vector<std::string> programs;  ///< files; instead of the algorithms, or in compare beside them
  bool algorithms_named = true;       ///< by the user: all are wanted
  bool beside_programs = false;       ///< the algorithms are run as well
  bool overlap = false;
  bool sequential = false;
  int priority = 0;
  int sms_reserved = 0;
  std::string without;
  std::string skew;
  std::uint64_t seed = 1;
  std::string burst = "auto";
  std::string fold = "auto";
  FidelityArguments fidelity;
  int threads = 0;
  std::string workload;  ///< the file that the step is written to
};

/// The options as understood. It holds what the job points to, so it cannot be copied.
struct TrainSetup {
  study::SystemPtr system;
  train::Model model;
  train::Graph graph;
  std::deque<coll::OwnProgram> programs;  ///< stay where they are
  study::StepJob job;                     ///< its method is the first of the methods
  std::vector<study::Method> methods;

  TrainSetup() = default;
  TrainSetup(const TrainSetup&) = delete;
  TrainSetup& operator=(const TrainSetup&) = delete;
};

/// `several` is for a command that runs several steps, on several threads.
void add_train_arguments(CLI::App& command, TrainArguments& args, bool several);
/// Declares when they have an effect (cli/options/effects.h).
void add_train_effects(CLI::App& command, const TrainArguments& args, Effects& effects);

sim::Result<std::unique_ptr<TrainSetup>> understand(const TrainArguments& args);

// The part of the options that is about collectives, for 'replay', which has no model.

void add_collective_arguments(CLI::App& command, TrainArguments& args, bool several);
void add_collective_effects(CLI::App& command, const TrainArguments& args, Effects& effects);
/// Chooses the collectives, by the rules of 'bench'. Requires: setup.job.gpus.
sim::Status pick_collectives(const TrainArguments& args, TrainSetup& setup);
sim::Status pick_sharing(const TrainArguments& args, gpu::CoreOptions& core);

}  // namespace infold::cli
