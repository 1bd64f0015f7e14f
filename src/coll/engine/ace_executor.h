// The accelerators at the GPUs' ports as an executor. Each channel has a state machine and no SM, and memory
// is used only for the first read of data and for the final results.
#pragma once

#include <vector>

#include "coll/engine/engine_executor.h"

namespace infold::coll {

class AceExecutor final : public EngineExecutor {
 public:
  AceExecutor(ExecutorContext context, sim::Time start);

 private:
  gpu::DataPath& take_path(int rank, int channel) override;
  void release_path(int rank, int channel) override;
  gpu::CopyPipeline*& path(int rank, int channel);

  std::vector<gpu::CopyPipeline*> paths_;  // indexed by rank · channels + channel
};

}  // namespace infold::coll
