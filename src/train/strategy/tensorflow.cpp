// The MirroredStrategy of TensorFlow: when all gradients are ready they are packed one behind the other, and
// the result is cut into packs at the borders of gradients. By default there is one pack.
#include <utility>

#include "train/strategy/step_writer.h"

namespace infold::train {

StepGraph write_tensorflow(const StepRequest& request) {
  const std::vector<sim::Bytes> sizes = gradient_sizes(request.plan);
  const std::int64_t packs = request.sync.packs;
  sim::Bytes whole;
  for (const sim::Bytes s : sizes) whole += s;
  std::vector<Bucket> buckets;
  Bucket open;
  sim::Bytes packed;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    open.parameters.push_back(static_cast<int>(i));
    open.bytes += sizes[i];
    packed += sizes[i];
    const auto closed = static_cast<std::int64_t>(buckets.size());
    const bool full = packed >= whole / packs * (closed + 1) && closed + 1 < packs;
    if (!full && i + 1 < sizes.size()) continue;
    open.gradients = static_cast<int>(sizes.size());
    buckets.push_back(std::exchange(open, {}));
  }
  return write_buckets(request, buckets, /*copied=*/true);
}

}  // namespace infold::train
