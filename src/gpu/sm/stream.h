// A stream: kernels, records and waits in the order in which the host enqueued them.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/sm/launch.h"
#include "sim/event_queue.h"
#include "sim/units.h"

namespace infold::gpu {

struct StreamOp {
  enum class Kind : std::uint8_t { kKernel, kRecord, kWait };
  Kind kind = Kind::kKernel;
  std::uint32_t id = 0;  ///< the number of the kernel or event
  sim::Time host_time;
};

struct Stream {
  int priority = 0;
  std::vector<StreamOp> ops;
  std::size_t next = 0;
  bool busy = false;     ///< a kernel of the stream is about to start or running
  bool waiting = false;  ///< it waits for the event that it has reached

  bool empty() const { return next == ops.size(); }
  /// Reuses the memory of finished entries.
  void pop() {
    if (++next == ops.size()) {
      ops.clear();
      next = 0;
    }
  }
};

/// Events: not recorded yet, or recorded permanently. Streams and others wait for them.
class StreamEvents {
 public:
  struct Listener {
    sim::Handler* handler;
    std::uint32_t arg;
  };
  struct Event {
    bool recorded = false;
    std::vector<StreamId> streams;
    std::vector<Listener> listeners;
  };
  EventId add() {
    events_.emplace_back();
    return static_cast<EventId>(events_.size() - 1);
  }
  Event& operator[](EventId id) { return events_[id]; }

 private:
  std::vector<Event> events_;
};

}  // namespace infold::gpu
