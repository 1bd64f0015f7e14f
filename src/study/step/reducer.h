// A communicator's collectives in a training step: buckets of gradients, one after the other and in the same
// order on every GPU, each through coll::Execution.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/engine/execution.h"
#include "gpu/machine.h"
#include "study/step/bucket_programs.h"

namespace infold::study {

class Reducer {
 public:
  /// A rank's dealings with a bucket.
  struct Turn {
    sim::Time ready = sim::Time::never();
    sim::Time start = sim::Time::never();  ///< its stream came to it: it waits for SMs and others from here
    sim::Time end = sim::Time::never();
    bool over() const { return end != sim::Time::never(); }
  };
  using Reduced = std::function<void(int rank, int bucket)>;

  /// Rank r is GPU r. `machine` must outlive it.
  Reducer(gpu::Machine& machine, int ranks, Reduced reduced)
      : machine_(machine), reduced_(std::move(reduced)), next_(static_cast<std::size_t>(ranks)) {}

  /// Where the steps of collectives that begin from now on are recorded; null: nowhere.
  void record(sim::TraceRecorder* trace) { trace_ = trace; }

  /// A further bucket; `entry` must outlive this. Returns its number.
  int add(const BucketPrograms::Entry& entry);
  int buckets() const { return static_cast<int>(buckets_.size()); }
  /// The key of the first block of a bucket's memory on a rank.
  std::uint64_t buffer(int bucket, int rank) const;
  sim::Bytes bytes(int bucket) const { return at(bucket).entry->program.bytes; }
  const BucketPrograms::Entry& entry(int bucket) const { return *at(bucket).entry; }

  /// This rank's part of the bucket is complete from now on, and may be reduced when those before it are.
  void release(int rank, int bucket);

  const Turn& turn(int bucket, int rank) const { return at(bucket).turns[static_cast<std::size_t>(rank)]; }
  std::vector<std::string> who_waits() const;

 private:
  struct Bucket {
    const BucketPrograms::Entry* entry = nullptr;
    std::unique_ptr<coll::Buffers> buffers;
    std::unique_ptr<coll::Execution> execution;  // from the first rank's start on
    std::vector<Turn> turns;                     // by rank
  };
  const Bucket& at(int bucket) const { return buckets_[static_cast<std::size_t>(bucket)]; }
  int ranks() const { return static_cast<int>(next_.size()); }
  std::vector<int> gpus() const;
  void start_next(int rank);
  void ended(int rank, int bucket, sim::Time at);

  gpu::Machine& machine_;
  Reduced reduced_;
  sim::TraceRecorder* trace_ = nullptr;
  std::vector<Bucket> buckets_;
  std::vector<int> next_;  // by rank: the bucket that it starts next
};

}  // namespace infold::study
