// HBM: groups of channels, each of which is a queue. A group serves reads at once. It collects writes and
// turns round for them when enough have accumulated, because nothing is served while it turns. Channels are
// refreshed in turn, so a group as a whole is slower by the share of time that refreshing takes.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_spec.h"
#include "sim/divisor.h"
#include "sim/random.h"
#include "sim/units.h"

namespace infold::gpu {

class alignas(64) Hbm {
 public:
  explicit Hbm(const HbmSpec& spec);

  /// When `n` bytes of the block, if asked for now, are at L2.
  sim::Time read(std::uint64_t block, std::uint32_t n, sim::Time now) {
    read_bytes += n;
    Group& g = group_of(block);
    g.free_at = sim::max(g.free_at, now) + pace_.time(sim::Bytes{n});
    return g.free_at + access_;
  }

  /// When `n` bytes of the block, if offered now, have room in the queue of writes of the group.
  sim::Time write(std::uint64_t block, std::uint32_t n, sim::Time now) {
    written_bytes += n;
    Group& g = group_of(block);
    const sim::Time accepted = sim::max(now, g.drain_began);
    g.waiting += n;
    if (g.waiting >= drain_) drain(g, now);
    return accepted;
  }

  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;

 private:
  struct Group {
    sim::Time free_at;
    sim::Time drain_began;  // start of the last drain: from then on there is room for more
    std::uint32_t waiting = 0;
  };
  Group& group_of(std::uint64_t block) { return groups_[number_of_groups_.remainder(sim::mix(block))]; }
  void drain(Group& g, sim::Time now) {
    g.drain_began = sim::max(g.free_at, now) + turnaround_;
    g.free_at = g.drain_began + pace_.time(sim::Bytes{g.waiting}) + turnaround_;
    g.waiting = 0;
  }

  // A read touches one cache line of this struct, a write two.
  sim::Pace pace_;  // of one group
  sim::Time access_;
  sim::Divisor number_of_groups_;
  std::vector<Group> groups_;
  sim::Time turnaround_;
  std::uint32_t drain_;
};

}  // namespace infold::gpu
