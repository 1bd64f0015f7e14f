// The clock of the reference network: every event is a closure in one ordered queue. Slow, and plain enough
// to be believed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "sim/units.h"

namespace infold::net::oracle {

/// What happens first in one picosecond: packets arrive, room becomes free, news of it reaches senders,
/// arbiters decide, GPUs act.
enum class Phase { kArrive, kFree, kCredit, kArbitrate, kWork };

class Clock {
 public:
  sim::Time now() const { return now_; }
  void at(sim::Time when, Phase phase, std::function<void()> what) {
    events_.emplace(std::tuple{when, phase, count_++}, std::move(what));
  }
  void run() {
    while (!events_.empty()) {
      auto first = events_.extract(events_.begin());
      now_ = std::get<0>(first.key());
      first.mapped()();
    }
  }

 private:
  sim::Time now_;
  std::uint64_t count_ = 0;
  std::map<std::tuple<sim::Time, Phase, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace infold::net::oracle
