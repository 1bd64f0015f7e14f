// Makes the tensors and kernels of each kind of job.
#include "study/kernel/kernel_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/gpu_check.h"

namespace infold::study {

namespace {

using gpu::Tensor;

/// Reads, writes, and operations per element of the streaming operations with one pass.
struct OnePass {
  int reads, writes;
  double ops;
  bool fp32;  // fp32 whatever the precision of the job is
  bool fp32_out;
};
OnePass one_pass(StreamOp op) {
  switch (op) {
    case StreamOp::kAdd:
      return {2, 1, 1, false, false};
    case StreamOp::kActivationBackward:
      return {2, 1, 2, false, false};
    case StreamOp::kLayerNorm:
      return {1, 1, 8, false, false};
    case StreamOp::kSoftmax:
      return {1, 1, 14, false, false};
    case StreamOp::kOptimizer:
      return {4, 3, 12, true, false};
    case StreamOp::kBucketCopy:
      return {1, 1, 1, false, true};
    default:
      return {1, 1, 1, false, false};
  }
}

class Builder {
 public:
  Builder(const KernelJob& job, gpu::Core& core) : job_(job), core_(core), e_(element_bytes(job.precision)) {
    plan_.list = std::make_unique<gpu::KernelList>(core);
    plan_.bytes = footprint(job);
  }

  void operator()(const GemmKernel& g) {
    const Tensor a = tensor(g.m, g.k);
    const Tensor b = tensor(g.k, g.n);
    const Tensor c = tensor(g.m, g.n, result_bytes(job_.precision));
    const gpu::Product product = matrix_product(a, b, c, job_.precision);
    if (g.tile_m == 0) {
      plan_.tile = plan_.list->add(product);
      return;
    }
    const auto plan = choose_stages(*job_.gpu, job_.gpu->sms, product, g.tile_m, g.tile_n);
    plan_.tile = plan_.list->add(product, *plan);
  }
  void operator()(const ConvKernel& c) {
    const gpu::ConvTensors t = conv_tensors(core_.addresses(), c.shape, job_.precision);
    switch (c.pass) {
      case ConvPass::kForward:
        plan_.tile = plan_.list->add(conv_forward(c.shape, t, job_.precision));
        break;
      case ConvPass::kData:
        plan_.tile = plan_.list->add(conv_data_gradient(c.shape, t, job_.precision));
        break;
      case ConvPass::kFilter:
        plan_.tile = plan_.list->add(conv_filter_gradient(c.shape, t, job_.precision));
        break;
    }
  }
  void operator()(const CopyKernel& c) {
    if (c.by == CopyBy::kDma) {
      plan_.copy = BufferCopy{core_.addresses().buffer(c.bytes), core_.addresses().buffer(c.bytes), c.bytes};
      plan_.list.reset();
      return;
    }
    // Elements of two bytes, 64 in a row, give consecutive blocks of 8 KiB. An odd byte counts as an element.
    const std::int64_t rows = (c.bytes.count() + 127) / 128;
    plan_.list->elementwise({core_.addresses().tensor(rows, 64, 2)}, {core_.addresses().tensor(rows, 64, 2)},
                            0);
  }
  void operator()(const StreamKernelJob& s) {
    const gpu::Residency together = s.grid;
    if (s.op == StreamOp::kBatchNormForward) {
      plan_.list->batch_norm_forward(tensor(s.rows, s.cols), tensor(s.rows, s.cols), together);
    } else if (s.op == StreamOp::kBatchNormBackward) {
      const Tensor x = tensor(s.rows, s.cols);
      const Tensor dy = tensor(s.rows, s.cols);
      plan_.list->batch_norm_backward(x, dy, tensor(s.rows, s.cols), together);
    } else {
      const OnePass p = one_pass(s.op);
      gpu::StreamPass pass;
      pass.ops_per_element = p.ops;
      for (int i = 0; i < p.reads; ++i) pass.reads.push_back(tensor(s.rows, s.cols, p.fp32 ? 4 : e_));
      for (int i = 0; i < p.writes; ++i)
        pass.writes.push_back(tensor(s.rows, s.cols, p.fp32 || p.fp32_out ? 4 : e_));
      plan_.list->add(gpu::StreamShape{.passes = {std::move(pass)}, .residency = together});
    }
  }
  void operator()(const AttentionKernelJob& a) {
    gpu::Attention shape = a.shape;
    shape.precision = job_.precision;
    plan_.list->add(shape, attention_tensors(core_.addresses(), shape), a.backward);
  }

  KernelPlan take() { return std::move(plan_); }

 private:
  Tensor tensor(std::int64_t rows, std::int64_t cols) { return tensor(rows, cols, e_); }
  Tensor tensor(std::int64_t rows, std::int64_t cols, int e) {
    return core_.addresses().tensor(rows, cols, e);
  }

  const KernelJob& job_;
  gpu::Core& core_;
  int e_;
  KernelPlan plan_;
};

/// Bytes as a double, because shapes may be absurdly large.
struct Footprints {
  double e;
  static double d(std::int64_t v) { return static_cast<double>(v); }
  double operator()(const GemmKernel& g) const {
    return e * (d(g.m) * d(g.k) + d(g.k) * d(g.n) + d(g.m) * d(g.n));
  }
  double operator()(const ConvKernel& c) const {
    const gpu::Conv& s = c.shape;
    return e * (d(s.pixels()) * d(s.channels) + d(s.out_pixels()) * d(s.filters) +
                d(s.size * s.size) * d(s.channels) * d(s.filters));
  }
  double operator()(const CopyKernel& c) const { return 2 * d(c.bytes.count()); }
  double operator()(const StreamKernelJob& s) const {
    const double one = d(s.rows) * d(s.cols);
    if (s.op == StreamOp::kBatchNormForward) return 2 * one * e;
    if (s.op == StreamOp::kBatchNormBackward) return 3 * one * e;
    const OnePass p = one_pass(s.op);
    return one * (p.reads * (p.fp32 ? 4 : e) + p.writes * (p.fp32 || p.fp32_out ? 4 : e));
  }
  double operator()(const AttentionKernelJob& a) const {
    const gpu::Attention& s = a.shape;
    return d(s.batch * s.sequence) * d(s.heads * s.head_size) * (a.backward ? 7 * e + 4 : 4 * e);
  }
};

bool tile_fits(const KernelJob& job, const GemmKernel& g) {
  gpu::Product shape;
  shape.precision = job.precision;
  return choose_stages(*job.gpu, 1, shape, g.tile_m, g.tile_n).has_value();
}

}  // namespace

sim::Bytes footprint(const KernelJob& job) {
  const double bytes = std::visit(Footprints{static_cast<double>(element_bytes(job.precision))}, job.kernel);
  return sim::Bytes{static_cast<std::int64_t>(std::min(bytes, 1e18))};
}

sim::Status check_kernel(const KernelJob& job) {
  const sim::Bytes bytes = footprint(job);
  const auto gib = [](sim::Bytes b) { return static_cast<double>(b.count()) / (1 << 30); };
  if (bytes > job.gpu->hbm.capacity) {
    return sim::fail(fmt::format("the kernel's tensors take {:.2f} GiB, and the memory of {} has {:.2f} GiB",
                                 gib(bytes), job.gpu->name, gib(job.gpu->hbm.capacity)));
  }
  if (auto ok = gpu::check_precision(*job.gpu, job.precision); !ok) return ok;
  if (auto ok = gpu::check(*job.gpu); !ok)
    return sim::fail(fmt::format("gpu.{}: {}", ok.error().parameter, ok.error().message));
  if (job.sms_taken + job.sms_reserved >= job.gpu->sms) {
    return sim::fail(fmt::format("{} SMs taken and {} reserved leave none of the {} of {} to compute on",
                                 job.sms_taken, job.sms_reserved, job.gpu->sms, job.gpu->name));
  }
  const auto* gemm = std::get_if<GemmKernel>(&job.kernel);
  if (gemm != nullptr && gemm->tile_m > 0 && !tile_fits(job, *gemm)) {
    return sim::fail(
        fmt::format("a tile of {}x{} does not fit an SM of {}", gemm->tile_m, gemm->tile_n, job.gpu->name));
  }
  const auto* stream = std::get_if<StreamKernelJob>(&job.kernel);
  if (stream != nullptr && stream->grid == gpu::Residency::kTogether && job.sms_taken > job.sms_reserved) {
    return sim::fail(fmt::format(
        "a grid that must be resident together waits for the {} SMs taken, and they are taken for good (see "
        "--grid free)",
        job.sms_taken));
  }
  return {};
}

KernelPlan build(const KernelJob& job, gpu::Core& core) {
  Builder builder(job, core);
  std::visit(builder, job.kernel);
  return builder.take();
}

}  // namespace infold::study
