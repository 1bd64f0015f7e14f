// A wire of the reference network: when it is busy, what may slip into a burst on it, and its bit errors.
#pragma once

#include <cstdint>

#include "plan.h"
#include "sim/random.h"
#include "sim/units.h"

namespace infold::net::oracle {

class Wire {
 public:
  struct Slot {
    sim::Time start;  ///< when the first byte of the transmission that succeeds leaves
    sim::Time end;
  };

  /// Bursts keep the wire from others for as long as the largest packet takes at least.
  explicit Wire(const LinkPlan& plan)
      : pace_(plan.rate),
        one_packet_(pace_.time(plan.largest)),
        round_trip_(plan.latency * 2),
        distance_(plan.error_distance),
        chance_(sim::mix(static_cast<std::uint64_t>(plan.id))) {
    if (errs()) to_error_ = draw();
  }

  bool free(sim::Time now) const { return busy_until_ <= now; }
  /// A burst is on it, and this is a place between two of its packets.
  bool may_slip(sim::Time now) const { return slip_from_ <= now; }
  sim::Time busy_until() const { return busy_until_; }
  sim::Time slip_from() const { return slip_from_; }

  /// `burst`: others may slip into it. A wire that is not free is slipped into. `tail`: when the last byte is
  /// at this end, which it does not leave before.
  Slot send(sim::Bytes wire, sim::Time now, bool burst, sim::Time tail) {
    const sim::Time start = now + lost_to_errors(wire);
    const sim::Time end = sim::max(start + pace_.time(wire), tail);
    if (start < busy_until_) {
      busy_until_ += end - start;
      slip_from_ = end;
    } else {
      busy_until_ = end;
      slip_from_ = burst ? start + one_packet_ : end;
    }
    return {start, end};
  }

 private:
  bool errs() const { return distance_ > sim::Bytes{}; }
  std::int64_t draw() {
    return 1 + static_cast<std::int64_t>(chance_.below(2 * static_cast<std::uint64_t>(distance_.count())));
  }
  /// Errors come after so many bytes, repeated ones included. What is hit is sent again: the news of it takes
  /// a round trip, and nothing passes meanwhile. Where errors are denser than packets, each is hit once.
  sim::Time lost_to_errors(sim::Bytes wire) {
    sim::Time lost;
    if (!errs()) return lost;
    to_error_ -= wire.count();
    while (to_error_ <= 0) {
      lost += round_trip_ + pace_.time(wire);
      to_error_ += draw() - wire.count();
      if (to_error_ <= -wire.count()) to_error_ = 1;
    }
    return lost;
  }

  sim::Pace pace_;
  sim::Time one_packet_;
  sim::Time round_trip_;
  sim::Bytes distance_;
  sim::Random chance_;
  std::int64_t to_error_ = 0;
  sim::Time busy_until_;
  sim::Time slip_from_;
};

}  // namespace infold::net::oracle
