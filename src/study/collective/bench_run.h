// A collective over sizes, systems, engines, algorithms and protocols, one after the other. This is what
// `infold bench` is asked for; it can also make a table of the best choices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/result.h"
#include "study/collective/choice.h"

namespace infold::study {

struct BenchJob {
  std::span<const SystemPtr> systems;
  /// What all rows have in common. System, bytes, GPUs, engine, algorithm and protocol differ from row to
  /// row.
  CollectiveJob each;
  std::vector<std::int64_t> sizes;  ///< in ascending order
  std::vector<coll::Engine> engines;
  std::vector<const coll::Algorithm*> algorithms;        ///< null means that it is chosen
  std::vector<std::optional<coll::Protocol>> protocols;  ///< nothing means that it is chosen
  int gpus = 0;  ///< per system; 0 means all, or as many as the program has ranks
  /// Each rank starts late by a random time up to this; if there is none, each.delays apply.
  std::optional<sim::Time> skew;
  std::uint64_t seed = 1;               ///< the seed of the skew
  bool tune = false;                    ///< runs all that could be chosen, and notes the best
  const TuningTable* tuning = nullptr;  ///< the table to choose by, for what it covers

  int gpus_of(const SystemSpec& system) const;
  /// The number of rows there will be, if nothing is to be tuned.
  std::size_t rows() const;
};

struct BenchRow {
  SystemPtr system;
  Choice choice;
  bool chosen = false;  ///< algorithm or protocol was left to auto
  int gpus = 0;
  sim::Bytes bytes;
  std::int64_t count = 0;             ///< elements, as nccl-tests counts
  std::optional<double> estimate_us;  ///< what auto would have chosen by, if tuned
  CollectiveResult result;
};

/// How much longer auto's choice takes than the best of all that was run, at the size where the difference is
/// largest.
struct AutoLoss {
  double share = 0;
  sim::Bytes bytes;
};

struct BenchResult {
  TuningTable table;  ///< the best choices by size, if tuned
  std::optional<AutoLoss> auto_loss;
};

/// Callbacks that are told of what happens; all of them must be set.
struct BenchWatch {
  std::function<bool()> go_on;  ///< false asks to stop
  std::function<void(const BenchRow& row)> began;
  std::function<void(double share)> progress;  ///< the share of the present row that is done
  std::function<void(BenchRow row)> ended;
};

/// Rounds a size down to whole elements or, if each rank has a share, to whole elements per rank, as
/// nccl-tests does.
sim::Bytes whole_elements(coll::Collective collective, coll::DataType type, sim::Bytes bytes, int ranks);

/// Jobs that were prepared to see whether a table can be run, and are kept for its rows: as many as fit, each
/// used once.
class KeptJobs {
 public:
  /// The number of program steps that are kept, which take some 130 bytes each.
  static constexpr std::size_t kMostSteps = 8'000'000;

  void keep(PreparedJob prepared);
  /// The prepared job, if it was kept. It is removed by this.
  std::optional<PreparedJob> take(const CollectiveJob& job);
  /// For each system, in order: the system that its fault leaves.
  std::vector<SystemPtr> left;

 private:
  std::vector<PreparedJob> jobs_;
  std::size_t steps_ = 0;
};

/// Prepares what every system is asked for at the largest size, before any time is spent on it. What is asked
/// for by name is refused with the reason; of what is left to auto, one offer must be possible.
sim::Result<KeptJobs> prepare_bench(const BenchJob& job, const sim::GoOn& go_on = {});
/// Checks whether the table to choose by says anything about the job. Requires: job.tuning, one system.
sim::Status check_tuning(const BenchJob& job);

/// Runs the rows in order of size, then system, engine, algorithm and protocol. An error is that of the row
/// that began last. Requires: `kept` is the result of prepare_bench(job).
sim::Result<BenchResult> run(const BenchJob& job, const BenchWatch& watch, KeptJobs kept = {});

}  // namespace infold::study
