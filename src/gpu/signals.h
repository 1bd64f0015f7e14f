// Flags that workgroups poll for. A flag packet names a signal; whoever waits for it is told when the
// polling warp would have seen it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.h"

namespace infold::gpu {

using SignalId = std::uint32_t;

class SignalTable {
 public:
  explicit SignalTable(sim::EventQueue& events) : events_(events) {}

  /// `waiter.handle(arg)` runs each time the signal is seen. `at_port`: by hardware at the GPU's ports, which
  /// sees it arrive; others poll memory for it.
  SignalId add(sim::Handler& waiter, std::uint32_t arg, bool at_port = false) {
    waiters_.push_back({&waiter, arg, at_port});
    return static_cast<SignalId>(waiters_.size() - 1);
  }
  void clear() { waiters_.clear(); }

  bool at_port(SignalId id) const { return waiters_[id].at_port; }
  void seen_at(SignalId id, sim::Time at) {
    events_.schedule(at, sim::Priority::kWork, *waiters_[id].handler, waiters_[id].arg);
  }

 private:
  struct Waiter {
    sim::Handler* handler;
    std::uint32_t arg;
    bool at_port;
  };
  sim::EventQueue& events_;
  std::vector<Waiter> waiters_;
};

}  // namespace infold::gpu
