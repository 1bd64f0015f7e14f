// Kernels in the order of a stream, as a framework would enqueue them: products with the reduction that a
// split one needs, and streaming operations with their usual numbers of reads and writes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gpu/kernel/attention.h"
#include "gpu/kernel/kernel.h"
#include "gpu/kernel/product.h"
#include "gpu/kernel/stream_kernel.h"
#include "gpu/kernel/tile_plan.h"
#include "gpu/kernel/timed_kernel.h"
#include "gpu/sm/core.h"

namespace infold::gpu {

class KernelList {
 public:
  explicit KernelList(Core& core) : core_(core) {}

  /// Uses the tile that suits the product best, or the given one. Returns the plan.
  TilePlan add(const Product& product);
  TilePlan add(const Product& product, const TilePlan& plan);
  void add(const StreamShape& shape);
  void add(const Attention& attention, const AttentionTensors& tensors, bool backward);
  void add(const TimedShape& shape);

  /// y = f(a, b, ...), with a number of operations per element.
  void elementwise(std::vector<Tensor> from, std::vector<Tensor> to, double ops_per_element);
  /// Computes statistics first, then the values, so x is read twice. With `together` = kAny it becomes two
  /// kernels.
  void batch_norm_forward(const Tensor& x, const Tensor& y, Residency together);
  void batch_norm_backward(const Tensor& x, const Tensor& dy, const Tensor& dx, Residency together);

  /// Enqueues all kernels in a stream, in order.
  void enqueue(StreamId stream, sim::Time host_time) { enqueue(0, size(), stream, host_time); }
  /// The same for the kernels from `first` up to, not including, `end`.
  void enqueue(std::size_t first, std::size_t end, StreamId stream, sim::Time host_time);

  std::size_t size() const { return kernels_.size(); }
  const Kernel& operator[](std::size_t i) const { return *kernels_[i]; }
  double flops() const;

 private:
  void two_passes(StreamPass first, StreamPass second, Residency together);

  Core& core_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace infold::gpu
