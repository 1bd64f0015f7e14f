// A copy engine: moves bytes from one place of memory to another, request by request, without an SM.
// Its speed follows from its rate, the bytes it may have under way, and the memory it shares with all others.
#pragma once

#include <cstdint>

#include "gpu/gpu_spec.h"
#include "gpu/memory/memory_system.h"
#include "sim/event_queue.h"
#include "sim/ring_buffer.h"

namespace infold::gpu {

class CopyEngine final : public sim::Handler {
 public:
  CopyEngine(const GpuSpec& spec, sim::EventQueue& events, MemorySystem& memory)
      : events_(events), memory_(memory), window_(spec.copy.in_flight), pace_(spec.copy.rate) {
    // Requests to the same block travel together: they would meet the same queues.
    unit_ = sim::max(sim::min(spec.copy.payload * 16, window_ / 8), sim::min(spec.copy.payload, window_));
  }

  /// Copies between buffers as AddressSpace::buffer gave them; then calls `done.handle(arg)`.
  /// Requires: idle(), bytes > 0.
  void copy(std::uint64_t from, std::uint64_t to, sim::Bytes bytes, sim::Handler& done, std::uint32_t arg);
  bool idle() const { return done_ == nullptr; }

 private:
  struct Unit {
    sim::Time ready;
    std::uint32_t bytes;
  };
  void handle(std::uint32_t arg) override;
  void load_more();

  sim::EventQueue& events_;
  MemorySystem& memory_;
  sim::Bytes window_;
  sim::Pace pace_;
  sim::Bytes unit_;
  sim::Time free_at_;
  MemorySystem::Cursor source_;
  MemorySystem::Cursor target_;
  sim::Bytes to_load_;
  sim::Bytes in_flight_;
  sim::RingBuffer<Unit> loading_;
  sim::Time last_taken_;
  sim::Handler* done_ = nullptr;
  std::uint32_t arg_ = 0;
};

}  // namespace infold::gpu
