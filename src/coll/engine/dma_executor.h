// Copy engines as an executor: they move all data, and short kernels, which hold SMs only while they add, do
// the additions.
#pragma once

#include <memory>
#include <vector>

#include "coll/engine/engine_executor.h"
#include "gpu/copy/dma_path.h"

namespace infold::coll {

class DmaExecutor final : public EngineExecutor {
 public:
  explicit DmaExecutor(ExecutorContext context);

 private:
  gpu::DataPath& take_path(int rank, int channel) override;
  /// Paths are kept until the executor ends, because a channel may end inside a call of its own path.
  void release_path(int, int) override {}

  std::vector<std::unique_ptr<gpu::DmaPath>> paths_;
};

}  // namespace infold::coll
