// The GPU's memory: a queue with a rate, and a latency for whoever waits for data.
// Everything that touches memory goes through it: loads, stores, packets arriving.
#pragma once

#include <cstdint>

#include "gpu/gpu_spec.h"
#include "sim/units.h"

namespace infold::gpu {

class Memory {
 public:
  explicit Memory(const HbmSpec& spec) : pace_(spec.bandwidth), latency_(spec.latency) {}

  /// When `n` bytes asked for now are there.
  sim::Time read(sim::Bytes n, sim::Time now) {
    read_bytes += static_cast<std::uint64_t>(n.count());
    return serve(n, now) + latency_;
  }
  /// The same of data that have just come in over the links, and that somebody polls for: they are still in
  /// the cache, and the poll itself is the latency.
  sim::Time read_polled(sim::Bytes n, sim::Time now) {
    read_bytes += static_cast<std::uint64_t>(n.count());
    return serve(n, now);
  }
  /// When `n` bytes offered now have been taken.
  sim::Time write(sim::Bytes n, sim::Time now) {
    written_bytes += static_cast<std::uint64_t>(n.count());
    return serve(n, now);
  }

  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;

 private:
  sim::Time serve(sim::Bytes n, sim::Time now) {
    free_at_ = sim::max(free_at_, now) + pace_.time(n);
    return free_at_;
  }
  sim::Pace pace_;
  sim::Time latency_;
  sim::Time free_at_;
};

}  // namespace infold::gpu
