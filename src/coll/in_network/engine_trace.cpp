// Records a span per wave and per sixteenth of the bytes.
#include "coll/in_network/engine_trace.h"

#include <fmt/format.h>

namespace infold::coll {

EngineTrace::EngineTrace(const ExecutorContext& context, int rank)
    : context_(context), rank_(rank), steps_(*context.trace, context.trace_track(rank, "engine")) {}

sim::TraceRecorder::TrackId EngineTrace::track(const std::string& label) const {
  return context_.trace_track(rank_, label);
}

void EngineTrace::begins_waves(sim::Time now, int in_flight) {
  lanes_.assign(in_flight <= kMostLanes ? static_cast<std::size_t>(in_flight) : 0, now);
  complete_ = 0;
}

void EngineTrace::waves(sim::Time now, const inc::Waves& waves) {
  if (lanes_.empty()) return;
  for (; complete_ < waves.complete(); ++complete_) {
    const std::size_t lane = complete_ % lanes_.size();
    context_.trace->detail(track(fmt::format("engine: waves ({})", lane + 1)),
                           context_.trace->name(fmt::format("wave {}", complete_)), lanes_[lane], now);
    lanes_[lane] = now;
  }
}

void EngineTrace::expects(sim::Time now, sim::Bytes to_receive, sim::Bytes to_reply) {
  results_.total = to_receive.count();
  answers_.total = to_reply.count();
  results_.since = answers_.since = now;
}

void EngineTrace::Progress::add(EngineTrace& owner, sim::Time now, sim::Bytes bytes) {
  come += bytes.count();
  const int now_parts = static_cast<int>(come * kParts / total);
  if (now_parts == parts) return;
  owner.context_.trace->detail(
      owner.track(label),
      owner.context_.trace->name(fmt::format("{} up to {} of {}", name, now_parts, kParts)), since, now);
  parts = now_parts;
  since = now;
}

}  // namespace infold::coll
