// Computes rates: a resource gives all flows through it the same, and a flow goes as fast as its slowest
// resource.
#include "net/flow/fluid.h"

#include <algorithm>
#include <cmath>

namespace infold::net {

Fluid::FlowId Fluid::begin(std::span<const Share> way, double bytes, double most, sim::Time now) {
  move_on(now);
  const FlowId id = flows_.take();
  Flow& flow = flows_[id];
  flow.way = way;
  flow.left = bytes;
  flow.rate = 0;
  flow.most = most;
  flow.since = now;
  flow.end = sim::Time::never();
  for (const Share& s : way) {
    resources_[s.resource].weight += s.weight;
    resources_[s.resource].flows.push_back(id);
  }
  change(way);
  if (way.empty()) set_rate(id, now);
  return id;
}

/// Accounts for the time up to now, so that a change of rates concerns only the time from now on.
void Fluid::move_on(sim::Time now) {
  if (now != changed_at_) settle();
  changed_at_ = now;
}

/// Rates are computed only when they are asked for, because often many flows begin or end at the same moment.
void Fluid::change(std::span<const Share> way) {
  for (const Share& s : way) {
    Resource& r = resources_[s.resource];
    if (!r.changed) changed_.push_back(s.resource);
    r.changed = true;
  }
}

void Fluid::settle() {
  if (changed_.empty()) return;
  ++settled_;
  for (const std::uint32_t resource : changed_) {
    resources_[resource].changed = false;
    for (const FlowId id : resources_[resource].flows) {
      if (flows_[id].seen == settled_) continue;
      flows_[id].seen = settled_;
      set_rate(id, changed_at_);
    }
  }
  changed_.clear();
}

void Fluid::set_rate(FlowId id, sim::Time now) {
  Flow& flow = flows_[id];
  double rate = flow.most;
  for (const Share& s : flow.way) {
    const Resource& r = resources_[s.resource];
    rate = std::min(rate, r.rate / r.weight);
  }
  if (flow.rate > 0 && std::abs(rate - flow.rate) <= flow.rate * 1e-9) return;
  const auto elapsed = static_cast<double>((now - flow.since).count_ps());
  flow.left = std::max(flow.left - elapsed * flow.rate, 0.0);
  flow.since = now;
  flow.rate = rate;
  flow.end = now + sim::Time::ps(static_cast<std::int64_t>(std::ceil(flow.left / rate)));
  if (flow.end < flow.queued) queue_end(id);
}

void Fluid::queue_end(FlowId id) {
  Flow& flow = flows_[id];
  flow.queued = flow.end;
  ends_.push({flow.end, id});
}

/// Removes or corrects outdated entries until the first one holds.
void Fluid::correct_ends() {
  while (!ends_.empty()) {
    const End first = ends_.top();
    const Flow& flow = flows_.slots()[first.flow];  // it may have ended, and then nothing of it is queued
    if (first.at == flow.queued && first.at == flow.end) return;
    ends_.pop();
    if (first.at == flow.queued) queue_end(first.flow);
  }
}

sim::Time Fluid::next() {
  settle();
  correct_ends();
  return ends_.empty() ? sim::Time::never() : ends_.top().at;
}

bool Fluid::ends_by(sim::Time now) {
  correct_ends();
  return !ends_.empty() && ends_.top().at <= now;
}

Fluid::FlowId Fluid::end_next() {
  const sim::Time now = ends_.top().at;
  const FlowId id = ends_.top().flow;
  ends_.pop();
  move_on(now);
  Flow& flow = flows_[id];
  flow.queued = sim::Time::never();
  for (const Share& s : flow.way) {
    Resource& r = resources_[s.resource];
    std::erase(r.flows, id);
    r.weight = r.flows.empty() ? 0 : r.weight - s.weight;
  }
  change(flow.way);
  flows_.give_back(id);
  return id;
}

}  // namespace infold::net
