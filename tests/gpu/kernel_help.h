// A GPU with nothing on it, and kernels run on it to their end.
#pragma once

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"

namespace infold::gpu::help {

struct Bench {
  explicit Bench(const GpuSpec& s, const CoreOptions& options = {})
      : spec(s), core(spec, events, options), list(core) {}
  Tensor tensor(std::int64_t rows, std::int64_t cols, int e = 2) {
    return core.addresses().tensor(rows, cols, e);
  }
  /// Runs what is in the list, and says how long that took.
  sim::Time run() {
    const sim::Time start = events.now();
    list.enqueue(core.dispatcher().add_stream(0), start);
    events.run();
    EXPECT_TRUE(core.dispatcher().idle());
    return events.now() - start;
  }
  const Traffic& traffic(Actor a = Actor::kCompute) { return core.memory().traffic()[a]; }

  GpuSpec spec;
  sim::EventQueue events;
  Core core;
  KernelList list;
};

inline Product product(Bench& b, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Tensor left = b.tensor(m, k);
  const Tensor right = b.tensor(k, n);
  return matrix_product(left, right, b.tensor(m, n), Precision::kFp16);
}

}  // namespace infold::gpu::help
