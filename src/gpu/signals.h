// Flags that workgroups poll for. A flag packet names a signal. What waits for the signal is told when the
// polling warp would have seen it.
#pragma once

#include <cstdint>

#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

using SignalId = std::uint32_t;

class SignalTable {
 public:
  explicit SignalTable(sim::EventQueue& events) : events_(events) {}

  struct Waiter {
    sim::Handler* handler = nullptr;  ///< handle(arg) runs each time the signal is seen
    std::uint32_t arg = 0;
    /// Which of the flags of its collective it is. Different flags use different links; the number of the
    /// signal would not do for that, because it depends on what else is under way.
    std::uint16_t number = 0;
    bool at_port = false;  ///< hardware at the GPU's ports sees it arrive; others poll memory for it
  };
  SignalId add(const Waiter& waiter) { return waiters_.take(waiter); }
  /// Requires: none of its flags is under way.
  void remove(SignalId id) { waiters_.give_back(id); }

  const Waiter& operator[](SignalId id) const { return waiters_[id]; }
  void seen_at(SignalId id, sim::Time at) {
    events_.schedule(at, sim::Priority::kWork, *waiters_[id].handler, waiters_[id].arg);
  }
  /// Signals that are in use.
  std::size_t used() const { return waiters_.used(); }

 private:
  sim::EventQueue& events_;
  sim::Pool<Waiter> waiters_;
};

}  // namespace infold::gpu
