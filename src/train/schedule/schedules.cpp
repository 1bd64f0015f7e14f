// The table of schedules, and what they need of memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/check.h"
#include "train/schedule/schedule.h"

namespace infold::train {

sim::Status check_pipeline(const PipelineSpec& spec, int stages) {
  const bool interleaves = spec.schedule == ScheduleKind::kInterleaved;
  if (!interleaves && spec.virtual_stages > 1)
    return sim::fail(
        fmt::format("schedule {} has one part of the model on each stage, not {}: take interleaved",
                    sim::name_of(spec.schedule), spec.virtual_stages),
        "virtual_stages");
  if (interleaves && spec.virtual_stages < 2)
    return sim::fail("schedule interleaved needs two parts of the model on each stage, or more",
                     "virtual_stages");
  if (interleaves && stages < 2)
    return sim::fail("schedule interleaved needs two stages, or more", "schedule");
  if (interleaves && spec.micro_batches % stages != 0)
    return sim::fail(
        fmt::format("schedule interleaved goes round {} stages: {} micro-batches are no multiple of that",
                    stages, spec.micro_batches),
        "micro_batches");
  return {};
}

Schedule make_schedule(const PipelineSpec& spec, int stages) {
  switch (spec.schedule) {
    case ScheduleKind::kGpipe:
      return gpipe(stages, spec.micro_batches);
    case ScheduleKind::k1f1b:
      return one_forward_one_backward(stages, spec.micro_batches);
    case ScheduleKind::kInterleaved:
      return interleaved(stages, spec.micro_batches, spec.virtual_stages);
    case ScheduleKind::kZeroBubble:
      return zero_bubble(stages, spec.micro_batches);
  }
  INFOLD_CHECK(false, "every kind of schedule has its function");
  return {};
}

std::vector<int> places_of(const std::vector<Pass>& passes) {
  std::vector<int> places;
  std::map<std::pair<int, int>, int> held;  // chunk and micro-batch to place
  std::map<int, std::set<int>> freed;       // by chunk
  std::map<int, int> made;                  // by chunk: places that there are
  for (const Pass& pass : passes) {
    const std::pair key{pass.chunk, pass.micro_batch};
    if (pass.kind == PassKind::kForward) {
      std::set<int>& free = freed[pass.chunk];
      const int place = free.empty() ? made[pass.chunk]++ : free.extract(free.begin()).value();
      held[key] = place;
    }
    places.push_back(held.at(key));
    if (pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient)
      freed[pass.chunk].insert(held.at(key));
  }
  return places;
}

std::vector<int> most_in_flight(const std::vector<Pass>& passes, int chunks) {
  std::vector<int> most(static_cast<std::size_t>(chunks));
  const std::vector<int> places = places_of(passes);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    int& n = most[static_cast<std::size_t>(passes[i].chunk)];
    n = std::max(n, places[i] + 1);
  }
  return most;
}

}  // namespace infold::train
