// A training step under way on a machine: told of gradients, it hands buckets to the reducer, and the reduced
// ones to the optimizer. Used by step_run only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/kernel/kernel_list.h"
#include "gpu/machine.h"
#include "study/step/bucket_programs.h"
#include "study/step/gpu_step.h"
#include "study/step/reducer.h"
#include "study/step/step_run.h"
#include "train/plan.h"
#include "train/synchroniser.h"

namespace infold::study {

/// What a step reduces. Most synchronisers' buckets do not depend on time: which gradients they hold, and how
/// many gradients must be there (in the order of Plan::ready) before one may be reduced, is known in advance.
struct BucketSchedule {
  bool in_advance = true;  ///< false: buckets are formed as time goes by, by all GPUs together
  std::vector<train::Bucket> buckets;
  std::vector<int> gradients;  ///< by bucket: that must be there

  /// The smallest and the largest size that may have to be reduced.
  std::vector<sim::Bytes> sizes(const std::vector<sim::Bytes>& gradient_sizes, sim::Bytes fusion) const;
};
BucketSchedule schedule_of(const train::SyncSpec& sync, const train::Plan& plan,
                           const std::vector<sim::Bytes>& gradient_sizes);
/// Bytes of each parameter's gradient as it is sent.
std::vector<sim::Bytes> gradient_sizes(const train::Plan& plan);
/// PyTorch copies each gradient when it is there; others copy a bucket when they reduce it.
inline bool copies_one_by_one(const train::SyncSpec& sync) {
  return sync.kind == train::SyncKind::kDdp && !sync.gradient_as_view;
}

class TrainingStep final : public GpuStep::Owner, public sim::Handler {
 public:
  /// All must outlive it.
  TrainingStep(const StepJob& job, gpu::Machine& machine, const train::Plan& plan,
               const BucketSchedule& schedule, BucketPrograms& programs);

  void start();
  bool done() const;
  /// Of all gradients on all GPUs, the share that has been reduced.
  double share() const;
  const GpuStep& gpu(int g) const { return *gpus_[static_cast<std::size_t>(g)]; }
  const Reducer& reducer() const { return reducer_; }
  void record(sim::TraceRecorder* trace) { reducer_.record(trace); }
  const train::Bucket& bucket(int b) const { return buckets_[static_cast<std::size_t>(b)]; }
  /// The core that has done a GPU's work of compute so far: its own, or an equal one's.
  const gpu::Core& computes_for(int g) const { return machine_.gpu(in_step_ ? 0 : g).core(); }
  /// The kernels that fill and empty a bucket's memory on a rank; null where each gradient is copied, or
  /// none.
  const gpu::KernelList* packing(int bucket, int rank) const;
  std::vector<std::string> who_waits() const;

 private:
  /// A bucket's memory is filled by one kernel and emptied by another, beside the collectives.
  struct Packing {
    std::unique_ptr<gpu::KernelList> kernels;  // in, out
  };
  /// What happens on a stream of packing kernels.
  struct Packed {
    int rank = 0;
    int bucket = 0;
    bool out = false;
  };

  void gradients_ready(int gpu, int count) override;
  void backward_ended(int gpu) override;
  void take_up(int gpu, int count);
  void end_backward(int gpu);
  void handle(std::uint32_t arg) override;
  void form_buckets();
  void add_bucket(const train::Bucket& bucket);
  void release(int rank, int bucket);
  void pack(int rank, int bucket, bool out);
  void reduced(int rank, int bucket);
  void take_back(int rank);
  void count_in(int rank, int bucket);

  static constexpr std::uint32_t kWake = ~std::uint32_t{0};
  static constexpr std::uint32_t kLaunch = kWake - 1;

  const StepJob& job_;
  gpu::Machine& machine_;
  const train::Plan& plan_;
  const BucketSchedule& schedule_;
  BucketPrograms& programs_;
  std::vector<std::unique_ptr<GpuStep>> gpus_;
  bool in_step_;  // so far all GPUs have done the same at the same time, and only the first is simulated
  Reducer reducer_;
  std::vector<train::Bucket> buckets_;          // as the reducer counts them
  std::vector<std::vector<Packing>> packing_;   // by bucket and rank, where whole buckets are copied
  std::vector<gpu::StreamId> packing_streams_;  // by rank, where whole buckets are copied
  std::vector<Packed> packed_;                  // by the argument of its event
  std::vector<bool> backward_over_;             // by rank
  std::vector<int> taken_back_;                 // by rank: buckets whose copying back is under way
  std::vector<std::size_t> settled_;            // by rank: parameters whose gradient is back in its place
  // Where buckets are formed as time goes by:
  std::unique_ptr<train::Synchroniser> synchroniser_;
  std::vector<int> ready_on_;          // by gradient, in the order of Plan::ready: GPUs
  std::size_t ready_everywhere_ = 0;   // gradients
  std::vector<train::Bucket> formed_;  // and not yet added
  std::optional<sim::Time> wakes_at_;
};

}  // namespace infold::study
