// The input buffer at a link's far end, one virtual channel of it, and what its sender knows of it.
//
// Room that is free is given back in lots, and the sender knows of a lot a link's latency later. What leaves
// a chip's buffer in the same picosecond, by several outputs, counts as one. A GPU's port hands on what ends
// there in order of arrival.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "clock.h"
#include "plan.h"
#include "sim/units.h"

namespace infold::net::oracle {

class Buffer {
 public:
  Buffer(Clock& clock, const LinkPlan& link, std::function<void()> on_credit)
      : clock_(clock),
        size_(link.buffer),
        lot_(link.lot),
        latency_(link.latency),
        passes_on_(link.passes_on),
        credits_(link.buffer),
        on_credit_(std::move(on_credit)) {}

  bool has_room_for(sim::Bytes wire) const { return credits_ >= wire; }
  void take(sim::Bytes wire) { credits_ = credits_ - wire; }

  /// A packet that goes on from this chip has left it whole at `at`.
  void leaves(sim::Bytes wire, sim::Time at) {
    if (freed_[at] == sim::Bytes{})
      clock_.at(at, Phase::kFree, [this, at] { gather(freed_.extract(at).mapped()); });
    freed_[at] += wire;
  }
  /// A packet that ends here needs no room from `at` on, nor do those that came before it.
  void ends(sim::Bytes wire, sim::Time at) {
    in_order_ = sim::max(in_order_, at);
    if (passes_on_) return leaves(wire, in_order_);
    clock_.at(in_order_, Phase::kFree, [this, wire] { gather(wire); });
  }
  bool all_home() const { return credits_ + gathered_ == size_; }

 private:
  void gather(sim::Bytes wire) {
    gathered_ += wire;
    if (gathered_ < lot_) return;
    clock_.at(clock_.now() + latency_, Phase::kCredit, [this, lot = gathered_] {
      credits_ += lot;
      on_credit_();
    });
    gathered_ = {};
  }

  Clock& clock_;
  sim::Bytes size_;
  sim::Bytes lot_;
  sim::Time latency_;
  bool passes_on_;
  sim::Bytes credits_;   // what the sender may still send
  sim::Bytes gathered_;  // free, and short of a lot
  sim::Time in_order_;
  std::map<sim::Time, sim::Bytes> freed_;
  std::function<void()> on_credit_;
};

/// How many outputs an input buffer feeds at this time, where that is limited.
class Feed {
 public:
  explicit Feed(int speedup) : speedup_(speedup) {}
  bool free(sim::Time now) {
    std::erase_if(until_, [now](const auto& u) { return u.first <= now; });
    return speedup_ == 0 || static_cast<int>(until_.size()) < speedup_;
  }
  void use(sim::Time until) { until_.emplace(until, 0); }

 private:
  int speedup_;
  std::multimap<sim::Time, int> until_;
};

}  // namespace infold::net::oracle
