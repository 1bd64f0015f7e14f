// Pull: each rank asks for the sum of its part, which the switches collect from all ranks, and multicasts it.
// Inputs are read by others, so all ranks must have come before the first sum is asked for.
#include "coll/algo/in_network.h"

namespace infold::coll {

Program write_inc_pull(const Request& request) {
  std::vector<Step> steps;
  if (request.collective == Collective::kCombine) {
    steps.push_back(meet());
    add_tokens(steps, request, NetOp::kLoadReduce);
  } else if (reduces(request.collective)) {
    steps.push_back(meet());
    add_in_network(steps, request, NetOp::kLoadReduce, who_gets(request.collective));
  } else {
    add_multicast(steps, request);
  }
  return engine_program(request, steps);
}

}  // namespace infold::coll
