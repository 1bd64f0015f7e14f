// How busy each cable of a machine was, for whoever draws it.
#pragma once

#include <vector>

#include "gpu/machine.h"
#include "sim/units.h"

namespace infold::study {

/// The cables that join two chips, one way.
struct LinkUse {
  net::NodeId from = 0;
  net::NodeId to = 0;
  int cables = 0;
  double mean = 0;     ///< share of the time in which something was on a cable, headers counted
  double busiest = 0;  ///< the same of the busiest of them
};

struct FabricUse {
  int gpus = 0;  ///< chips 0 to gpus - 1; the others are switches
  int nodes = 0;
  std::vector<LinkUse> links;  ///< by the first cable of each pair
};

/// Over so long a time from the start on. Requires: over > 0. Where only the first `simulated` of `gpus` GPUs
/// were simulated, the others' links are taken to be as busy as those of who stood for them.
FabricUse use_of_links(const gpu::Machine& machine, sim::Time over, int simulated, int gpus);
inline FabricUse use_of_links(const gpu::Machine& machine, sim::Time over) {
  return use_of_links(machine, over, machine.gpus(), machine.gpus());
}

}  // namespace infold::study
