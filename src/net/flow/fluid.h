// Flows that share resources fairly, as a fluid: what a link gives a flow changes whenever another begins or
// ends. This serves estimates: there are no packets, and one event per flow.
#pragma once

#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "sim/pool.h"
#include "sim/units.h"

namespace infold::net {

class Fluid {
 public:
  using FlowId = std::uint32_t;
  /// A flow sends `weight` of its bytes through a resource.
  struct Share {
    std::uint32_t resource;
    double weight;
  };

  /// Adds a resource with a rate in bytes per picosecond. Returns its number.
  std::uint32_t add_resource(double rate) {
    resources_.push_back({.rate = rate, .weight = 0, .flows = {}, .changed = false});
    return static_cast<std::uint32_t>(resources_.size() - 1);
  }

  /// Begins a flow that takes no more than `most` bytes per picosecond. `way` must outlive it.
  FlowId begin(std::span<const Share> way, double bytes, double most, sim::Time now);
  /// The time at which the next flow ends; never if there is none.
  sim::Time next();
  /// Whether a flow ends by `now`. This is cheaper than next(), because everything that happens at one moment
  /// changes rates once.
  bool ends_by(sim::Time now);
  /// Ends that flow. Requires: next() or ends_by() has just said that there is one.
  FlowId end_next();

 private:
  struct Flow {
    std::span<const Share> way;
    double left = 0;
    double rate = 0;
    double most = 0;
    sim::Time since;
    sim::Time end;                          // at that rate
    sim::Time queued = sim::Time::never();  // its entry among the ends, which is not later
    std::uint32_t seen = 0;                 // by which settling
  };
  struct Resource {
    double rate;
    double weight;  // of all flows through it
    std::vector<FlowId> flows;
    bool changed = false;  // since rates were worked out
  };
  /// A flow that slows down leaves its entry where it is, and is put back when the entry comes up.
  struct End {
    sim::Time at;
    FlowId flow;
    bool operator>(const End& o) const { return at != o.at ? at > o.at : flow > o.flow; }
  };
  void move_on(sim::Time now);
  void change(std::span<const Share> way);
  void settle();
  void correct_ends();
  void queue_end(FlowId id);
  void set_rate(FlowId id, sim::Time now);

  std::vector<Resource> resources_;
  sim::Pool<Flow, FlowId> flows_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<std::uint32_t> changed_;  // resources
  sim::Time changed_at_;
  std::uint32_t settled_ = 0;
};

}  // namespace infold::net
