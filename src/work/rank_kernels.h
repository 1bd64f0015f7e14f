// The kernels of a graph on one rank's GPU, and where its tensors and buffers lie in memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "work/graph.h"

namespace infold::work {

class RankKernels {
 public:
  /// Graph and core must outlive this object. The graph may grow.
  RankKernels(gpu::Core& core, const Graph& graph) : core_(core), graph_(graph), kernels_(core) {}

  /// Makes the kernels of an operation: operations are made in the order in which memory is given to them.
  void make(OpId op);
  /// Notes where a buffer lies: the keys of the first blocks of what a collective reads and of what it
  /// writes.
  void place(BufferId buffer, std::uint64_t input, std::uint64_t output);

  /// The key of a tensor's first block. It gets its memory when it is first used.
  std::uint64_t key_of(TensorId id) { return tensor(id).at(0).key; }

  void enqueue(OpId op, gpu::StreamId stream, sim::Time host_time) {
    const Span& s = span(op);
    kernels_.enqueue(s.first, s.end, stream, host_time);
  }

  gpu::Core& core() { return core_; }
  const gpu::Core& core() const { return core_; }
  std::size_t kernels() const { return kernels_.size(); }
  double flops() const { return kernels_.flops(); }
  /// Whether the operation has kernels and they have run.
  bool ran(OpId op) const { return has(op) && kernels_[span(op).end - 1].ended_at() > sim::Time{}; }
  /// When its first kernel began and its last one ended. Requires: ran(op).
  sim::Time began(OpId op) const { return kernels_[span(op).first].began_at(); }
  sim::Time ended(OpId op) const { return kernels_[span(op).end - 1].ended_at(); }
  /// The share of the operations with kernels that has run, for a progress bar.
  double share_ended() const;

 private:
  struct Span {
    std::size_t first = 0;
    std::size_t end = 0;
  };
  struct Place {
    std::uint64_t input = 0;
    std::uint64_t output = 0;
  };

  void add(const Kernel& k);
  void add(const Kernel& k, const MatMul& m);
  void add(const Kernel& k, const Convolve& c);
  void add(const Kernel& k, const Attend& a);
  void add(const Kernel& k, const Streaming& s);
  void add(const Copy& c);
  const Span& span(OpId op) const { return spans_[static_cast<std::size_t>(op)]; }
  bool has(OpId op) const {
    return static_cast<std::size_t>(op) < spans_.size() && span(op).first < span(op).end;
  }
  gpu::Tensor tensor(TensorId id);
  const Place& place_of(BufferId buffer);
  gpu::Tensor filter(TensorId id, const gpu::Conv& conv);

  gpu::Core& core_;
  const Graph& graph_;
  gpu::KernelList kernels_;
  std::vector<gpu::Tensor> tensors_;
  std::map<TensorId, gpu::Tensor> padded_filters_;
  std::vector<std::optional<Place>> places_;  // by buffer
  std::vector<Span> spans_;                   // by operation
};

}  // namespace infold::work
