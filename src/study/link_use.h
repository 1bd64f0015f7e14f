// How busy each cable of a machine was, for drawing the machine.
#pragma once

#include <vector>

#include "gpu/machine.h"
#include "sim/units.h"

namespace infold::study {

/// The cables that join two chips, in one direction.
struct LinkUse {
  net::NodeId from = 0;
  net::NodeId to = 0;
  int cables = 0;
  double mean = 0;     ///< share of the time in which something was on a cable, headers included
  double busiest = 0;  ///< the same for the busiest of these cables
};

struct FabricUse {
  int gpus = 0;  ///< chips 0 to gpus - 1; the others are switches
  int nodes = 0;
  std::vector<LinkUse> links;  ///< ordered by the first cable of each pair
  int nodes_of_machine = 1;    ///< with several, the NICs are among the chips
};

/// Computes the use over this time from the start on. Requires: over > 0. Where only the first `simulated` of
/// `gpus` GPUs were simulated, the links of the others are taken to be as busy as those of the GPUs that
/// represent them.
FabricUse use_of_links(const gpu::Machine& machine, sim::Time over, int simulated, int gpus);
inline FabricUse use_of_links(const gpu::Machine& machine, sim::Time over) {
  return use_of_links(machine, over, machine.gpus(), machine.gpus());
}

}  // namespace infold::study
