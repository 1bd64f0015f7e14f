// A collective over sizes, systems, engines, algorithms and protocols, one after the other: what `infold
// bench` is asked for, and the table of the best choices that it can make of it.
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
  /// What all rows have in common. System, bytes, GPUs, engine, algorithm and protocol are each row's own.
  CollectiveJob each;
  std::vector<std::int64_t> sizes;  ///< in order
  std::vector<coll::Engine> engines;
  std::vector<const coll::Algorithm*> algorithms;        ///< null: choose
  std::vector<std::optional<coll::Protocol>> protocols;  ///< none: choose
  int gpus = 0;  ///< of each system; 0: all, or as many as the program has ranks
  /// Each rank starts late by up to so much, by chance; none: by each.delays.
  std::optional<sim::Time> skew;
  std::uint64_t seed = 1;               ///< of the skew
  bool tune = false;                    ///< run all that could be chosen, and note the best
  const TuningTable* tuning = nullptr;  ///< choose by it where it knows

  int gpus_of(const SystemSpec& system) const;
  /// The rows there will be, if nothing is to be tuned.
  std::size_t rows() const;
};

struct BenchRow {
  SystemPtr system;
  Choice choice;
  bool chosen = false;  ///< algorithm or protocol were left to auto
  int gpus = 0;
  sim::Bytes bytes;
  std::int64_t count = 0;             ///< elements, as nccl-tests counts
  std::optional<double> estimate_us;  ///< what auto would have chosen by, where tuned
  CollectiveResult result;
};

/// How much longer than the best of all that was run auto's choice takes, at the size where it is most.
struct AutoLoss {
  double share = 0;
  sim::Bytes bytes;
};

struct BenchResult {
  TuningTable table;  ///< the best by size, where tuned
  std::optional<AutoLoss> auto_loss;
};

/// Who is told of what happens; all must be given.
struct BenchWatch {
  std::function<bool()> go_on;  ///< false asks to stop
  std::function<void(const BenchRow& row)> began;
  std::function<void(double share)> progress;  ///< of the row that began last
  std::function<void(BenchRow row)> ended;
};

/// A size cut to whole elements, and where each rank has its share to whole elements a rank, as nccl-tests
/// does.
sim::Bytes whole_elements(coll::Collective collective, coll::DataType type, sim::Bytes bytes, int ranks);

/// What was made ready to see whether a table can be run, kept for its rows: as much as fits, each once.
class KeptJobs {
 public:
  /// Steps of programs that are kept, some 130 bytes each.
  static constexpr std::size_t kMostSteps = 8'000'000;

  void keep(PreparedJob prepared);
  /// The job made ready, if it was kept. It is gone then.
  std::optional<PreparedJob> take(const CollectiveJob& job);
  /// By system, in order: what its fault leaves.
  std::vector<SystemPtr> left;

 private:
  std::vector<PreparedJob> jobs_;
  std::size_t steps_ = 0;
};

/// Makes ready what every system is asked for at the largest size, before anything is spent on it. What is
/// asked for by name is refused with the reason; of what is left to auto one offer must be possible.
sim::Result<KeptJobs> prepare_bench(const BenchJob& job, const sim::GoOn& go_on = {});
/// Whether the table to choose by says anything about the job. Requires: job.tuning, one system.
sim::Status check_tuning(const BenchJob& job);

/// Rows in order of size, then system, engine, algorithm and protocol. An error is that of the row that began
/// last. Requires: prepare_bench(job), of which `kept` came.
sim::Result<BenchResult> run(const BenchJob& job, const BenchWatch& watch, KeptJobs kept = {});

}  // namespace infold::study
