// The usual kernels of a framework.
#include "gpu/kernel/kernel_list.h"

#include <utility>

#include "gpu/kernel/product_kernel.h"

namespace infold::gpu {

TilePlan KernelList::add(const Product& product) {
  const TilePlan plan = choose_tile(core_.spec(), core_.spec().sms, product);
  return add(product, plan);
}

TilePlan KernelList::add(const Product& product, const TilePlan& plan) {
  std::vector<Tensor> partials;
  if (plan.split > 1) {
    for (int i = 0; i < plan.split; ++i)
      partials.push_back(core_.addresses().tensor(product.groups * product.m, product.n, 4));
  }
  kernels_.push_back(std::make_unique<ProductKernel>(core_, product, plan, partials));
  if (plan.split > 1) elementwise(std::move(partials), {product.out}, plan.split);
  return plan;
}

void KernelList::add(const StreamShape& shape) {
  kernels_.push_back(std::make_unique<StreamKernel>(core_, shape));
}

void KernelList::add(const Attention& attention, const AttentionTensors& tensors, bool backward) {
  kernels_.push_back(std::make_unique<AttentionKernel>(core_, attention, tensors, backward));
}

void KernelList::add(const TimedShape& shape) {
  kernels_.push_back(std::make_unique<TimedKernel>(core_, shape));
}

void KernelList::elementwise(std::vector<Tensor> from, std::vector<Tensor> to, double ops_per_element) {
  add(StreamShape{.passes = {{std::move(from), std::move(to), ops_per_element}}});
}

void KernelList::two_passes(StreamPass first, StreamPass second, Residency together) {
  if (together != Residency::kAny) {
    add(StreamShape{.passes = {std::move(first), std::move(second)}, .residency = together});
    return;
  }
  add(StreamShape{.passes = {std::move(first)}});
  add(StreamShape{.passes = {std::move(second)}});
}

void KernelList::batch_norm_forward(const Tensor& x, const Tensor& y, Residency together) {
  two_passes({{x}, {}, 3}, {{x}, {y}, 2}, together);
}

void KernelList::batch_norm_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                     Residency together) {
  two_passes({{x, dy}, {}, 4}, {{x, dy}, {dx}, 5}, together);
}

void KernelList::enqueue(std::size_t first, std::size_t end, StreamId stream, sim::Time host_time) {
  for (std::size_t i = first; i < end; ++i)
    core_.dispatcher().enqueue(stream, kernels_[i]->launch(), host_time);
}

double KernelList::flops() const {
  double sum = 0;
  for (const auto& k : kernels_) sum += k->flops();
  return sum;
}

}  // namespace infold::gpu
