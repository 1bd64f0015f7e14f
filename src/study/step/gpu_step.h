// One GPU's part of a training step: its kernels on one stream, the copies into buckets and back, and word of
// how far it has come.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "sim/event_queue.h"
#include "train/plan.h"
#include "train/step_kernels.h"

namespace infold::study {

/// When a GPU did what, counted from the step's start.
struct StepTimes {
  sim::Time forward_began;
  sim::Time forward_ended;
  sim::Time backward_began;
  sim::Time backward_ended;  ///< the last gradient is where collectives find it
  sim::Time optimizer_began;
  sim::Time optimizer_ended;

  sim::Time forward() const { return forward_ended - forward_began; }
  sim::Time backward() const { return backward_ended - backward_began; }
  sim::Time optimizer() const { return optimizer_ended - optimizer_began; }
};

/// A kernel of a GPU's stream, or the few that belong to one op of the plan.
struct RanKernel {
  enum class What : std::uint8_t { kOp, kCopyIn, kCopyBack };
  What what = What::kOp;
  int index = 0;  ///< the op's, or the parameter whose gradient was copied
  sim::Time began;
  sim::Time ended;
};

class GpuStep final : public sim::Handler {
 public:
  /// Who is told. Gradients are counted in the order of Plan::ready.
  class Owner {
   public:
    virtual void gradients_ready(int gpu, int count) = 0;
    virtual void backward_ended(int gpu) = 0;

   protected:
    ~Owner() = default;
  };

  /// All must outlive it.
  GpuStep(int gpu, gpu::Core& core, const train::Plan& plan, Owner& owner);

  /// A parameter's gradient is copied to its place in a bucket as soon as it is there, in the same stream, as
  /// PyTorch does it. `buffer` is the key of the bucket's first block.
  void copy_to_bucket(train::ParameterId p, std::uint64_t buffer, sim::Bytes offset);
  /// The owner is told when so many gradients are there.
  void tell_at(int gradients);

  /// Forward and backward, with what was asked for above.
  void start(sim::Time at);
  /// The same, where `twin` has just told its owner of so many gradients, and has done this GPU's work up to
  /// there. Nothing of that is simulated again. Requires: both were set up alike.
  void go_on_as(const GpuStep& twin, int gradients);
  /// The same at the end of backward.
  void end_backward_as(const GpuStep& twin);
  /// The reduced gradient is copied from its bucket. Requires: copy_to_bucket(p), backward has ended.
  void copy_back(train::ParameterId p);
  /// Then weights are updated.
  void optimize();

  /// Requires: everything has run.
  StepTimes times() const;
  const train::StepKernels& kernels() const { return kernels_; }
  /// The same: all that was in its stream, in the order of time.
  std::vector<RanKernel> ran() const;
  /// Of its kernels, about, those that have ended.
  double share() const { return kernels_.share_ended(); }
  bool done() const { return optimizing_ && core_.dispatcher().idle(); }

 private:
  static constexpr std::uint32_t kBackwardEnded = 1U << 31;
  void handle(std::uint32_t arg) override;
  void enqueue_from(std::size_t gradients, sim::Time at);
  void mark(std::uint32_t arg);
  const train::StepKernels& kernels_of(int op) const { return op < own_ops_ ? twin_->kernels_ : kernels_; }

  int gpu_;
  gpu::Core& core_;
  const train::Plan& plan_;
  Owner& owner_;
  train::StepKernels kernels_;
  gpu::KernelList copies_;                           // in and out, by turns
  std::vector<std::optional<std::size_t>> copy_of_;  // by parameter: the first of its two
  std::vector<bool> told_at_;                        // by number of gradients
  gpu::StreamId stream_;
  const GpuStep* twin_ = nullptr;  // that ran the first ops for this GPU
  int own_ops_ = 0;                // begin here
  sim::Time backward_ended_;
  bool optimizing_ = false;
};

}  // namespace infold::study
