// Turns descriptions into kernels of the GPU.
#include "work/rank_kernels.h"

#include <algorithm>

#include <utility>

namespace infold::work {

namespace {

/// Gives a part of a buffer as tensors with as many blocks as the tensor that is copied there. A block of a
/// buffer holds 8 KiB, one of a tensor 64 x 64 elements; a block of four-byte elements fills one in each of
/// two halves.
std::vector<gpu::Tensor> part_of(std::uint64_t buffer, sim::Bytes offset, const gpu::Tensor& copied) {
  constexpr std::int64_t kBlock = gpu::AddressSpace::kBufferBlock;
  constexpr int kElement = static_cast<int>(kBlock / gpu::Tensor::kBlockElements);
  constexpr std::int64_t kRow = gpu::Tensor::kSide * kElement;
  const std::int64_t rows = (copied.bytes().count() + kRow - 1) / kRow;
  const std::uint64_t first = buffer + static_cast<std::uint64_t>(offset.count() / kBlock);
  const auto tensor = [&](std::uint64_t key, std::int64_t n) {
    return gpu::Tensor(key, n, gpu::Tensor::kSide, kElement);
  };
  if (copied.element_bytes() <= kElement || rows <= gpu::Tensor::kSide) return {tensor(first, rows)};
  const std::int64_t half = (rows + 1) / 2;
  const gpu::Tensor front = tensor(first, half);
  return {front, tensor(first + static_cast<std::uint64_t>(front.blocks()), rows - half)};
}

}  // namespace

void RankKernels::make(OpId op) {
  const auto i = static_cast<std::size_t>(op);
  if (spans_.size() <= i) spans_.resize(i + 1);
  spans_[i].first = kernels_.size();
  const Operation& o = graph_[op];
  if (const auto* k = std::get_if<Kernel>(&o.what)) add(*k);
  if (const auto* c = std::get_if<Copy>(&o.what)) add(*c);
  if (const auto* t = std::get_if<Timed>(&o.what))
    kernels_.add(gpu::TimedShape{
        .time = t->time, .sms = t->sms, .workgroups = t->workgroups, .bytes = t->bytes, .flops = t->flops});
  spans_[i].end = kernels_.size();
}

void RankKernels::place(BufferId buffer, std::uint64_t input, std::uint64_t output) {
  const auto i = static_cast<std::size_t>(buffer);
  if (places_.size() <= i) places_.resize(i + 1);
  places_[i] = Place{input, output};
}

void RankKernels::add(const Kernel& k) {
  std::visit([&](const auto& what) { add(k, what); }, k.what);
}

void RankKernels::add(const Copy& c) {
  const gpu::Tensor whole = tensor(c.tensor);
  const Place& place = place_of(c.buffer);
  const gpu::Tensor there =
      c.element_bytes == 0 ? whole : gpu::Tensor(0, whole.rows(), whole.cols(), c.element_bytes);
  std::vector<gpu::Tensor> part = part_of(c.back ? place.output : place.input, c.offset, there);
  gpu::StreamPass pass{{whole}, std::move(part), c.ops_per_element};
  if (c.back) std::swap(pass.reads, pass.writes);
  if (c.adds) pass.reads.insert(pass.reads.end(), pass.writes.begin(), pass.writes.end());
  kernels_.add(
      gpu::StreamShape{.passes = {std::move(pass)},
                       .actor = c.for_communication ? gpu::Actor::kCollective : gpu::Actor::kCompute});
}

/// A buffer that no communication of this graph uses gets memory of its own.
const RankKernels::Place& RankKernels::place_of(BufferId buffer) {
  const auto i = static_cast<std::size_t>(buffer);
  if (places_.size() <= i || !places_[i]) {
    const std::uint64_t memory = core_.addresses().buffer(graph_.buffers[i].bytes);
    place(buffer, memory, memory);
  }
  return *places_[i];
}

gpu::Tensor RankKernels::tensor(TensorId id) {
  if (tensors_.size() <= static_cast<std::size_t>(id)) tensors_.resize(graph_.tensors.size());
  gpu::Tensor& t = tensors_[static_cast<std::size_t>(id)];
  const TensorSpec& s = graph_.tensors[static_cast<std::size_t>(id)];
  if (t.rows() == 0) t = core_.addresses().tensor(s.rows, s.cols, s.element_bytes);
  return t;
}

/// The filter of a padded image also has taps for the padding.
gpu::Tensor RankKernels::filter(TensorId id, const gpu::Conv& conv) {
  const TensorSpec& s = graph_.tensors[static_cast<std::size_t>(id)];
  const std::int64_t cols = conv.size * conv.size * conv.channels;
  if (s.cols == cols) return tensor(id);
  const auto known = padded_filters_.find(id);
  if (known != padded_filters_.end()) return known->second;
  return padded_filters_[id] = core_.addresses().tensor(s.rows, cols, s.element_bytes);
}

void RankKernels::add(const Kernel& k, const MatMul& m) {
  using Kind = gpu::Operand::Kind;
  const gpu::Tensor left = tensor(m.left);
  const gpu::Tensor right = tensor(m.right);
  const ProductSize size = size_of(graph_.tensors, m);
  gpu::Product p;
  p.groups = m.groups;
  p.m = size.m;
  p.n = size.n;
  p.k = size.k;
  p.precision = left.element_bytes() == 1 ? gpu::Precision::kFp8 : k.precision;
  p.left = {m.left_by_k ? Kind::kCols : Kind::kRows, left};
  p.right = {m.right_by_k ? Kind::kCols : Kind::kRows, right};
  p.out = tensor(m.out);
  p.input = left.bytes() + right.bytes();
  p.flops = flops_of(graph_.tensors, m);
  kernels_.add(p);
}

void RankKernels::add(const Kernel& k, const Convolve& c) {
  const gpu::Conv conv{.batch = k.batch,
                       .height = c.height,
                       .width = c.width,
                       .channels = c.channels,
                       .filters = c.filters,
                       .size = c.size,
                       .stride = c.stride,
                       .padding = c.pad};
  const gpu::ConvTensors t{tensor(c.in), tensor(c.out), filter(c.filter, conv)};
  const gpu::Precision precision = k.precision;
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

void RankKernels::add(const Kernel& k, const Attend& a) {
  const gpu::Attention attention{.batch = k.batch,
                                 .sequence = a.sequence,
                                 .heads = a.heads,
                                 .head_size = a.head_size,
                                 .kv_heads = a.kv_heads,
                                 .value_size = a.value_size,
                                 .precision = k.precision,
                                 .causal = a.causal,
                                 .keys = a.keys};
  gpu::AttentionTensors t{tensor(a.query), tensor(a.key), tensor(a.value), tensor(a.out), {}, {}, {}, {}};
  if (a.backward) {
    t.d_query = tensor(a.d_query);
    t.d_key = tensor(a.d_key);
    t.d_value = tensor(a.d_value);
    t.d_out = tensor(a.d_out);
  }
  kernels_.add(attention, t, a.backward);
}

void RankKernels::add(const Kernel& /*k*/, const Streaming& s) {
  gpu::StreamShape shape;
  for (const Streaming::Pass& pass : s.passes) {
    gpu::StreamPass p;
    const auto touched = [&](TensorId id) {
      const gpu::Tensor all = tensor(id);
      const auto some = std::ranges::find(pass.some, id, &Streaming::Pass::Rows::tensor);
      if (some == pass.some.end()) return all;
      return gpu::Tensor(all.at(0, 0).key, some->rows, all.cols(), all.element_bytes());
    };
    for (const TensorId t : pass.reads) p.reads.push_back(touched(t));
    for (const TensorId t : pass.writes) p.writes.push_back(touched(t));
    p.ops_per_element = pass.ops_per_element;
    shape.passes.push_back(std::move(p));
  }
  if (shape.passes.size() > 1) shape.residency = gpu::Residency::kTogether;
  kernels_.add(shape);
}

double RankKernels::share_ended() const {
  std::size_t all = 0;
  std::size_t over = 0;
  for (OpId op = 0; op < static_cast<OpId>(spans_.size()); ++op) {
    if (!has(op)) continue;
    ++all;
    if (ran(op)) ++over;
  }
  return all == 0 ? 1 : static_cast<double>(over) / static_cast<double>(all);
}

}  // namespace infold::work
