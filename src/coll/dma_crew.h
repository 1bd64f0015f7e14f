// Copy engines as a crew: they move all data; kernels that hold SMs only while they add do the additions.
#pragma once

#include <memory>
#include <vector>

#include "coll/engine_crew.h"
#include "gpu/dma_path.h"

namespace infold::coll {

class DmaCrew final : public EngineCrew {
 public:
  explicit DmaCrew(CrewContext context);

 private:
  gpu::DataPath& take_path(int rank, int channel) override;
  /// Paths keep what they have until the crew ends: the runner may be done inside one's own call.
  void release_path(int, int) override {}

  std::vector<std::unique_ptr<gpu::DmaPath>> paths_;
};

}  // namespace infold::coll
