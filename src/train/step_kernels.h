// The kernels of a plan on one GPU.
#pragma once

#include <map>
#include <vector>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "train/plan.h"

namespace infold::train {

class StepKernels {
 public:
  /// Both arguments must outlive it.
  StepKernels(gpu::Core& core, const Plan& plan);

  /// Enqueues the whole step in a stream.
  void enqueue(gpu::StreamId stream, sim::Time host_time) { kernels_.enqueue(stream, host_time); }
  /// Enqueues one op.
  void enqueue_op(int op, gpu::StreamId stream, sim::Time host_time) {
    const auto i = static_cast<std::size_t>(op);
    kernels_.enqueue(first_[i], first_[i + 1], stream, host_time);
  }
  /// Where the gradient of a parameter lies in memory.
  gpu::Tensor gradient(ParameterId p) { return tensor(plan_.gradients[static_cast<std::size_t>(p)]); }

  std::size_t kernels() const { return kernels_.size(); }
  double flops() const { return kernels_.flops(); }
  /// When the first kernel of an op began and the last one ended. Requires: they have run.
  sim::Time op_began(int op) const { return kernels_[first_[static_cast<std::size_t>(op)]].began_at(); }
  sim::Time op_ended(int op) const {
    return kernels_[first_[static_cast<std::size_t>(op) + 1] - 1].ended_at();
  }
  /// The share of its ops that have ended, for a progress bar. Requires: they run in one stream.
  double share_ended() const;

 private:
  void add(const MatMul& m);
  void add(const Convolve& c);
  void add(const Attend& a);
  void add(const Streaming& s);
  gpu::Tensor tensor(TensorId id);
  gpu::Tensor filter(TensorId id, const gpu::Conv& conv);

  gpu::Core& core_;
  const Plan& plan_;
  gpu::KernelList kernels_;
  std::vector<gpu::Tensor> tensors_;
  std::map<TensorId, gpu::Tensor> padded_filters_;
  std::vector<std::size_t> first_;  // first kernel of each op, with one more entry at the end
};

}  // namespace infold::train
