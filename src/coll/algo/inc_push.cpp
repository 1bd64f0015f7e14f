// Push: every rank sends its data unasked; the switch where all contributions have met sends the sum to the
// ranks that need it. No rank waits for another before it sends.
#include "coll/algo/in_network.h"

namespace infold::coll {

Program write_inc_push(const Request& request) {
  std::vector<Step> steps;
  if (request.collective == Collective::kCombine) {
    add_tokens(steps, request, NetOp::kReduceWrite);
  } else if (reduces(request.collective)) {
    add_in_network(steps, request, NetOp::kReduceWrite, who_gets(request.collective));
  } else {
    add_multicast(steps, request);
  }
  return engine_program(request, steps);
}

}  // namespace infold::coll
