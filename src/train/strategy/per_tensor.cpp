// Each gradient is reduced by itself, as soon as it is ready.
#include "train/strategy/step_writer.h"

namespace infold::train {

StepGraph write_per_tensor(const StepRequest& request) {
  const std::vector<sim::Bytes> sizes = gradient_sizes(request.plan);
  std::vector<Bucket> buckets;
  int count = 0;
  for (const GradientReady& r : request.plan.ready)
    buckets.push_back({{r.parameter},
                       sizes[static_cast<std::size_t>(r.parameter)],
                       ++count,
                       request.plan.axis_of(r.parameter)});
  return write_buckets(request, buckets, /*copied=*/false);
}

}  // namespace infold::train
