// Enqueueing of a step's kernels, and when they ran.
#include "study/step/gpu_step.h"

#include <algorithm>
#include <utility>

#include "sim/check.h"

namespace infold::study {

namespace {

/// Part of a buffer as tensors with as many blocks as the gradient that is copied there. Blocks of a buffer
/// hold 8 KiB, those of a gradient 64 x 64 elements; one of four-byte elements fills a block in each half.
std::vector<gpu::Tensor> part_of(std::uint64_t buffer, sim::Bytes offset, sim::Bytes bytes,
                                 int element_bytes) {
  constexpr std::int64_t kBlock = gpu::AddressSpace::kBufferBlock;
  constexpr int kElement = static_cast<int>(kBlock / gpu::Tensor::kBlockElements);
  constexpr std::int64_t kRow = gpu::Tensor::kSide * kElement;
  const std::int64_t rows = (bytes.count() + kRow - 1) / kRow;
  const std::uint64_t first = buffer + static_cast<std::uint64_t>(offset.count() / kBlock);
  const auto tensor = [&](std::uint64_t key, std::int64_t n) {
    return gpu::Tensor(key, n, gpu::Tensor::kSide, kElement);
  };
  if (element_bytes <= kElement || rows <= gpu::Tensor::kSide) return {tensor(first, rows)};
  const std::int64_t half = (rows + 1) / 2;
  const gpu::Tensor front = tensor(first, half);
  return {front, tensor(first + static_cast<std::uint64_t>(front.blocks()), rows - half)};
}

}  // namespace

GpuStep::GpuStep(int gpu, gpu::Core& core, const train::Plan& plan, Owner& owner)
    : gpu_(gpu),
      core_(core),
      plan_(plan),
      owner_(owner),
      kernels_(core, plan),
      copies_(core),
      copy_of_(plan.parameter_elements.size()),
      told_at_(plan.ready.size() + 1),
      stream_(core.dispatcher().add_stream(0)) {}

void GpuStep::copy_to_bucket(train::ParameterId p, std::uint64_t buffer, sim::Bytes offset) {
  const gpu::Tensor gradient = kernels_.gradient(p);
  const std::vector<gpu::Tensor> part = part_of(buffer, offset, gradient.bytes(), gradient.element_bytes());
  copy_of_[static_cast<std::size_t>(p)] = copies_.size();
  copies_.elementwise({gradient}, part, 1);  // divided by the number of GPUs on the way
  copies_.elementwise(part, {gradient}, 0);
}

void GpuStep::tell_at(int gradients) {
  told_at_[static_cast<std::size_t>(gradients)] = true;
}

void GpuStep::mark(std::uint32_t arg) {
  const gpu::EventId event = core_.dispatcher().add_event();
  core_.dispatcher().record(stream_, event);
  core_.dispatcher().notify(event, *this, arg);
}

void GpuStep::start(sim::Time at) {
  enqueue_from(0, at);
}

void GpuStep::go_on_as(const GpuStep& twin, int gradients) {
  core_.copy_compute_of(twin.core_);
  twin_ = &twin;
  own_ops_ = plan_.ready[static_cast<std::size_t>(gradients) - 1].op + 1;
  enqueue_from(static_cast<std::size_t>(gradients), core_.events().now());
}

void GpuStep::end_backward_as(const GpuStep& twin) {
  core_.copy_compute_of(twin.core_);
  twin_ = &twin;
  own_ops_ = plan_.first_op(train::Phase::kOptimizer);
  backward_ended_ = twin.backward_ended_;
}

/// All that comes after the first so many gradients, up to the end of backward.
void GpuStep::enqueue_from(std::size_t ready, sim::Time at) {
  const int first = ready == 0 ? 0 : plan_.ready[ready - 1].op;
  const int end = plan_.first_op(train::Phase::kOptimizer);
  for (int op = first; op < end; ++op) {
    if (op >= own_ops_) kernels_.enqueue_op(op, stream_, at);
    for (; ready < plan_.ready.size() && plan_.ready[ready].op == op; ++ready) {
      if (const auto& copy = copy_of_[static_cast<std::size_t>(plan_.ready[ready].parameter)])
        copies_.enqueue(*copy, *copy + 1, stream_, at);
      if (told_at_[ready + 1]) mark(static_cast<std::uint32_t>(ready + 1));
    }
  }
  INFOLD_CHECK(ready == plan_.ready.size(), "every gradient is complete when backward has ended");
  mark(kBackwardEnded);
}

void GpuStep::handle(std::uint32_t arg) {
  if (arg != kBackwardEnded) {
    owner_.gradients_ready(gpu_, static_cast<int>(arg));
    return;
  }
  backward_ended_ = core_.events().now();
  owner_.backward_ended(gpu_);
}

void GpuStep::copy_back(train::ParameterId p) {
  const std::size_t copy = *copy_of_[static_cast<std::size_t>(p)] + 1;
  copies_.enqueue(copy, copy + 1, stream_, core_.events().now());
}

void GpuStep::optimize() {
  optimizing_ = true;
  for (int op = plan_.first_op(train::Phase::kOptimizer); op < static_cast<int>(plan_.ops.size()); ++op)
    kernels_.enqueue_op(op, stream_, core_.events().now());
}

std::vector<RanKernel> GpuStep::ran() const {
  std::vector<RanKernel> all;
  all.reserve(plan_.ops.size());
  for (int op = 0; op < static_cast<int>(plan_.ops.size()); ++op)
    all.push_back({RanKernel::What::kOp, op, kernels_of(op).op_began(op), kernels_of(op).op_ended(op)});
  for (int p = 0; p < static_cast<int>(copy_of_.size()); ++p) {
    const auto& copy = copy_of_[static_cast<std::size_t>(p)];
    if (!copy) continue;
    // One that never ran here was made by the twin, or (out of a bucket) not at all.
    const gpu::Kernel* in = &copies_[*copy];
    if (in->grid() == 0 && twin_ != nullptr) in = &twin_->copies_[*copy];
    if (in->grid() > 0) all.push_back({RanKernel::What::kCopyIn, p, in->began_at(), in->ended_at()});
    const gpu::Kernel& out = copies_[*copy + 1];
    if (out.grid() > 0) all.push_back({RanKernel::What::kCopyBack, p, out.began_at(), out.ended_at()});
  }
  std::ranges::stable_sort(all, {}, &RanKernel::began);
  return all;
}

StepTimes GpuStep::times() const {
  StepTimes t;
  t.forward_began = t.backward_began = t.optimizer_began = sim::Time::never();
  for (int op = 0; op < static_cast<int>(plan_.ops.size()); ++op) {
    const sim::Time began = kernels_of(op).op_began(op);
    const sim::Time ended = kernels_of(op).op_ended(op);
    switch (plan_.ops[static_cast<std::size_t>(op)].phase) {
      case train::Phase::kForward:
        t.forward_began = sim::min(t.forward_began, began);
        t.forward_ended = sim::max(t.forward_ended, ended);
        break;
      case train::Phase::kBackward:
        t.backward_began = sim::min(t.backward_began, began);
        break;
      case train::Phase::kOptimizer:
        t.optimizer_began = sim::min(t.optimizer_began, began);
        t.optimizer_ended = sim::max(t.optimizer_ended, ended);
        break;
    }
  }
  t.backward_ended = backward_ended_;
  return t;
}

}  // namespace infold::study
