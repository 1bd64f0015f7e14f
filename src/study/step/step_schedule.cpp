// Which gradients a step reduces together, as far as that can be known in advance.
#include <algorithm>
#include <set>

#include "study/step/training_step.h"

namespace infold::study {

std::vector<sim::Bytes> gradient_sizes(const train::Plan& plan) {
  std::vector<sim::Bytes> sizes;
  for (const std::int64_t n : plan.parameter_elements) sizes.emplace_back(n * plan.recipe.gradient_bytes());
  return sizes;
}

BucketSchedule schedule_of(const train::SyncSpec& sync, const train::Plan& plan,
                           const std::vector<sim::Bytes>& sizes) {
  BucketSchedule schedule;
  if (sync.kind == train::SyncKind::kHorovod) {
    schedule.in_advance = false;
    return schedule;
  }
  // A clock that counts gradients: what the synchroniser decides then tells how many it waited for.
  std::vector<train::ReadyGradient> gradients;
  for (const train::GradientReady& r : plan.ready)
    gradients.push_back({r.parameter, sim::Time::ps(static_cast<std::int64_t>(gradients.size()) + 1)});
  const auto synchroniser = train::make_synchroniser(sync, sizes);
  for (train::Reduction& r : train::decide(*synchroniser, gradients, /*after_backward=*/false)) {
    schedule.buckets.push_back(std::move(r.bucket));
    schedule.gradients.push_back(static_cast<int>(r.may_start.count_ps()));
  }
  return schedule;
}

std::vector<sim::Bytes> BucketSchedule::sizes(const std::vector<sim::Bytes>& gradient_sizes,
                                              sim::Bytes fusion) const {
  std::set<sim::Bytes> all;
  for (const train::Bucket& b : buckets) all.insert(b.bytes);
  if (!in_advance) {
    sim::Bytes sum;
    for (const sim::Bytes g : gradient_sizes) sum += g;
    const auto [least, most] = std::minmax_element(gradient_sizes.begin(), gradient_sizes.end());
    all = {*least, sim::max(*most, sim::min(sum, fusion))};
  }
  return {all.begin(), all.end()};
}

}  // namespace infold::study
