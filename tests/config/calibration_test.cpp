// The GPU presets against published measurements of kernels. The bounds are those that the model promises.
#include "config/catalog.h"
#include "study/kernel/kernel_run.h"

namespace infold::config {
namespace {

study::KernelResult run(const char* gpu, const study::KernelChoice& kernel, int sms_taken = 0) {
  const auto spec = load_gpu(gpu).value();
  const study::KernelJob job{.gpu = &spec,
                             .kernel = kernel,
                             .precision = gpu::Precision::kFp16,
                             .sms_taken = sms_taken,
                             .sms_reserved = 0,
                             .contention = {}};
  return study::run(job, {}).value();
}
double tflops(const study::KernelResult& r) {
  return r.flops / r.time.in_s() * 1e-12;
}
study::GemmKernel cube(std::int64_t side) {
  return {.m = side, .n = side, .k = side};
}
double loss(const char* gpu, const study::GemmKernel& kernel, int sms_taken) {
  return run(gpu, kernel, sms_taken).time.in_s() / run(gpu, kernel).time.in_s() - 1;
}

TEST(Calibration, MatrixProductsOfA100) {
  const std::pair<std::int64_t, double> published[] = {{1024, 119}, {2048, 222}, {4096, 228}, {8192, 254}};
  for (const auto& [side, figure] : published) {
    EXPECT_NEAR(tflops(run("a100-80", cube(side))) / figure, 1, 0.12) << side;
  }
}

TEST(Calibration, ALargeMatrixProductOfH100) {
  EXPECT_NEAR(tflops(run("h100", cube(8192))) / 794, 1, 0.1);
}

TEST(Calibration, Copies) {
  const std::pair<const char*, double> published[] = {{"a100-80", 1610}, {"h100", 2900}, {"h200", 4010}};
  for (const auto& [gpu, figure] : published) {
    const auto bytes = sim::Bytes::gib(1);
    const double gbps = 2 * static_cast<double>(bytes.count()) /
                        run(gpu, study::CopyKernel{.bytes = bytes}).time.in_s() * 1e-9;
    EXPECT_NEAR(gbps / figure, 1, 0.05) << gpu;
  }
}

TEST(Calibration, ProductsLoseMoreThanTheSmsThatOthersTake) {
  double with_32 = 0;
  double with_64 = 0;
  const study::GemmKernel shapes[] = {{.m = 8192, .n = 8192, .k = 4096},
                                      {.m = 12288, .n = 12288, .k = 4096},
                                      {.m = 8192, .n = 10240, .k = 2048},
                                      {.m = 4096, .n = 14336, .k = 4096}};
  for (const auto& s : shapes) {
    with_32 += loss("mi300x", s, 32) / 4;
    with_64 += loss("mi300x", s, 64) / 4;
  }
  EXPECT_NEAR(with_32, 0.17, 0.06);
  EXPECT_NEAR(with_64, 0.27, 0.06);
  EXPECT_NEAR(loss("v100", cube(4096), 16), 0.21, 0.06);
}

TEST(Calibration, AnExtraWaveNearlyDoublesAProductThatJustFitted) {
  const study::GemmKernel k{.m = 1536, .n = 2816, .k = 4096, .tile_m = 128, .tile_n = 256};
  EXPECT_EQ(run("h100", k).workgroups, 132);
  const double times = 1 + loss("h100", k, 24);
  EXPECT_GT(times, 1.6);
  EXPECT_LT(times, 2.1);
}

TEST(Calibration, StreamingHardlyMindsLosingSms) {
  const study::StreamKernelJob add{.op = study::StreamOp::kAdd};
  EXPECT_NEAR(run("mi300x", add, 64).time.in_s() / run("mi300x", add).time.in_s(), 1, 0.02);
}

TEST(Calibration, BatchNormBackwardOfV100) {
  const study::StreamKernelJob job{.op = study::StreamOp::kBatchNormBackward,
                                   .rows = 208 * 56 * 56,
                                   .cols = 256,
                                   .grid = gpu::Residency::kTogether};
  EXPECT_NEAR(run("v100", job).time.in_us(), 2000, 300);
}

}  // namespace
}  // namespace infold::config
