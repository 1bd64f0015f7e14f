// The accelerators at the GPUs' ports as an executor: a state machine a channel; no SM, and memory only for
// what is read the first time and what is written the last.
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

  std::vector<gpu::CopyPipeline*> paths_;  // rank · channels + channel
};

}  // namespace infold::coll
