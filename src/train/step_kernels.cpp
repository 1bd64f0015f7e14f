// Turns the descriptions of a plan into kernels of the GPU.
#include "train/step_kernels.h"

#include <algorithm>
#include <ranges>

#include <utility>

namespace infold::train {

StepKernels::StepKernels(gpu::Core& core, const Plan& plan)
    : core_(core), plan_(plan), kernels_(core), tensors_(plan.tensors.size()) {
  for (const Op& op : plan.ops) {
    first_.push_back(kernels_.size());
    std::visit([&](const auto& work) { add(work); }, op.work);
  }
  first_.push_back(kernels_.size());
}

gpu::Tensor StepKernels::tensor(TensorId id) {
  gpu::Tensor& t = tensors_[static_cast<std::size_t>(id)];
  const TensorSpec& s = plan_.tensors[static_cast<std::size_t>(id)];
  if (t.rows() == 0) t = core_.addresses().tensor(s.rows, s.cols, s.element_bytes);
  return t;
}

/// The filter of a padded image also has taps for the padding.
gpu::Tensor StepKernels::filter(TensorId id, const gpu::Conv& conv) {
  const TensorSpec& s = plan_.tensors[static_cast<std::size_t>(id)];
  const std::int64_t cols = conv.size * conv.size * conv.channels;
  if (s.cols == cols) return tensor(id);
  const auto known = padded_filters_.find(id);
  if (known != padded_filters_.end()) return known->second;
  return padded_filters_[id] = core_.addresses().tensor(s.rows, cols, s.element_bytes);
}

void StepKernels::add(const MatMul& m) {
  using Kind = gpu::Operand::Kind;
  const gpu::Tensor left = tensor(m.left);
  const gpu::Tensor right = tensor(m.right);
  gpu::Product p;
  p.m = m.left_by_k ? left.cols() : left.rows();
  p.k = m.left_by_k ? left.rows() : left.cols();
  p.n = m.right_by_k ? right.cols() : right.rows();
  p.precision = plan_.recipe.precision();
  p.left = {m.left_by_k ? Kind::kCols : Kind::kRows, left};
  p.right = {m.right_by_k ? Kind::kCols : Kind::kRows, right};
  p.out = tensor(m.out);
  p.input = left.bytes() + right.bytes();
  p.flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  kernels_.add(p);
}

void StepKernels::add(const Convolve& c) {
  const gpu::Conv conv{.batch = plan_.recipe.batch,
                       .height = c.height,
                       .width = c.width,
                       .channels = c.channels,
                       .filters = c.filters,
                       .size = c.size,
                       .stride = c.stride,
                       .padding = c.pad};
  const gpu::ConvTensors t{tensor(c.in), tensor(c.out), filter(c.filter, conv)};
  const gpu::Precision precision = plan_.recipe.precision();
  switch (c.way) {
    case Convolve::Way::kForward:
      kernels_.add(conv_forward(conv, t, precision));
      return;
    case Convolve::Way::kDataGradient:
      kernels_.add(conv_data_gradient(conv, t, precision));
      return;
    case Convolve::Way::kFilterGradient:
      kernels_.add(conv_filter_gradient(conv, t, precision));
      return;
  }
}

void StepKernels::add(const Attend& a) {
  const gpu::Attention attention{.batch = plan_.recipe.batch,
                                 .sequence = a.sequence,
                                 .heads = a.heads,
                                 .head_size = a.head_size,
                                 .precision = plan_.recipe.precision(),
                                 .causal = a.causal};
  gpu::AttentionTensors t{tensor(a.query), tensor(a.key), tensor(a.value), tensor(a.out), {}, {}, {}, {}};
  if (a.backward) {
    t.d_query = tensor(a.d_query);
    t.d_key = tensor(a.d_key);
    t.d_value = tensor(a.d_value);
    t.d_out = tensor(a.d_out);
  }
  kernels_.add(attention, t, a.backward);
}

void StepKernels::add(const Streaming& s) {
  gpu::StreamShape shape;
  for (const Streaming::Pass& pass : s.passes) {
    gpu::StreamPass p;
    for (const TensorId t : pass.reads) p.reads.push_back(tensor(t));
    for (const TensorId t : pass.writes) p.writes.push_back(tensor(t));
    p.ops_per_element = pass.ops_per_element;
    shape.passes.push_back(std::move(p));
  }
  if (shape.passes.size() > 1) shape.residency = gpu::Residency::kTogether;
  kernels_.add(shape);
}

double StepKernels::share_ended() const {
  const auto ops = first_.size() - 1;
  const auto all = std::views::iota(std::size_t{0}, ops);
  const auto ended = std::ranges::partition_point(
      all, [this](std::size_t op) { return op_ended(static_cast<int>(op)) > sim::Time{}; });
  return ops == 0 ? 1 : static_cast<double>(ended - all.begin()) / static_cast<double>(ops);
}

}  // namespace infold::train
