// The accelerators at the GPUs' ports as a crew: a state machine a channel; no SM, and memory only for what
// is read the first time and what is written the last.
#pragma once

#include <vector>

#include "coll/engine_crew.h"

namespace infold::coll {

class AceCrew final : public EngineCrew {
 public:
  AceCrew(CrewContext context, sim::Time start);

 private:
  gpu::DataPath& take_path(int rank, int channel) override;
  void release_path(int rank, int channel) override;
  gpu::Mover*& path(int rank, int channel);

  std::vector<gpu::Mover*> paths_;  // rank · channels + channel
};

}  // namespace infold::coll
