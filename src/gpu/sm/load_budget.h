// The outstanding loads of an SM, shared by the warps on it. A warp that finds no room waits, first come,
// first served.
#pragma once

#include <cstdint>

#include "sim/ring_buffer.h"
#include "sim/units.h"

namespace infold::gpu {

class LoadBudget {
 public:
  class Waiter {
   public:
    /// The room that `warp` asked for is reserved for it now.
    virtual void may_load(std::uint32_t warp) = 0;

   protected:
    ~Waiter() = default;
  };
  explicit LoadBudget(sim::Bytes room) : room_(room) {}

  /// Whether a warp may load that many bytes now. If not, it is told when it may.
  bool take(sim::Bytes bytes, Waiter& waiter, std::uint32_t warp) {
    if (waiting_.empty() && fits(bytes)) {
      taken_ += bytes;
      return true;
    }
    waiting_.push({&waiter, warp, bytes});
    return false;
  }
  /// So much of what was taken has arrived.
  void give_back(sim::Bytes bytes) {
    taken_ -= bytes;
    while (!waiting_.empty() && fits(waiting_.front().bytes)) {
      const Waiting next = waiting_.front();
      waiting_.pop();
      taken_ += next.bytes;
      next.waiter->may_load(next.warp);
    }
  }
  sim::Bytes taken() const { return taken_; }

 private:
  struct Waiting {
    Waiter* waiter;
    std::uint32_t warp;
    sim::Bytes bytes;
  };
  /// One load is always allowed, however little room there is.
  bool fits(sim::Bytes bytes) const { return taken_ == sim::Bytes{} || taken_ + bytes <= room_; }

  sim::Bytes room_;
  sim::Bytes taken_;
  sim::RingBuffer<Waiting> waiting_;
};

}  // namespace infold::gpu
