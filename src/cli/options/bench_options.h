// The options of `infold bench`: those of nccl-tests, and our own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/run_arguments.h"
#include "coll/algo/algorithms.h"
#include "coll/dtype.h"
#include "sim/result.h"
#include "study/collective/bench_run.h"

namespace CLI {
class App;
}

namespace infold::cli {

class Effects;

/// The options as typed.
struct BenchArguments : RunArguments {
  std::string collective;
  std::string begin = "32M";
  std::string end;  ///< if empty, the same as begin
  int factor = 0;
  std::string increment = "1M";
  int root = 0;
  int gpus = 0;  ///< 0 means all GPUs of the system
  std::string dtype = "fp32";
  std::string op = "sum";
  int iterations = 1;
  int groups = 1;
  int concurrent = 1;
  int channels = 0;     ///< 0 means as many as the system has
  std::string program;  ///< file of a program; if empty, the algorithms compile one
  std::string systems = "dgx-a100";
  std::string algorithms = "ring";
  std::string protocols = "auto";
  std::string engines = "sm";
  std::string burst = "auto";
  std::string inputs = "exact";
  std::string skew;    ///< empty if there is none
  std::string delays;  ///< empty if there is none
  std::uint64_t seed = 1;
  std::string fail;      ///< empty if nothing fails
  std::string fallback;  ///< if empty, the same algorithm
  std::string tune;      ///< file to write
  std::string tuning;    ///< file to read
  bool residency = false;
  bool check = false;
};

/// The options as understood.
struct BenchOptions {
  coll::Collective collective = coll::Collective::kAllReduce;
  std::vector<std::int64_t> sizes;
  coll::DataType type = coll::DataType::kFp32;
  coll::ReduceOp op = coll::ReduceOp::kSum;
  std::vector<const coll::Algorithm*> algorithms;        ///< null means that auto chooses
  std::vector<std::optional<coll::Protocol>> protocols;  ///< nothing means that auto chooses
  std::vector<coll::Engine> engines;
  study::BurstChoice burst;
  sim::Time skew;
  std::vector<sim::Time> delays;
  bool real_inputs = false;
  std::optional<study::Fault> fault;
  std::optional<coll::OwnProgram> program;  ///< read from a file and proved right
};

void add_bench_arguments(CLI::App& command, BenchArguments& args);
/// Declares when they have an effect (cli/options/effects.h).
void add_bench_effects(CLI::App& command, const BenchArguments& args, Effects& effects);

/// The same for what these options say (study::whole_elements).
sim::Bytes whole_elements(const BenchOptions& options, sim::Bytes bytes, int ranks);

sim::Result<BenchOptions> understand(const BenchArguments& args);

}  // namespace infold::cli
