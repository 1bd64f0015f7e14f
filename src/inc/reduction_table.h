// The reduction tables of one switch: one table per port, each with room for a number of entries. An entry is
// a sum in progress: its key, which ranks have contributed, and the partial sum. The order of a list gives
// the ages.
//
// Invariants: an entry is in the index and in the list of ages of its port from add to remove; a port never
// has more entries than it has room for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "inc/key_index.h"
#include "inc/policy_arithmetic.h"
#include "inc/regions.h"
#include "sim/pool.h"

namespace infold::inc {

using EntryId = std::uint32_t;
inline constexpr EntryId kNoEntry = KeyIndex::kNone;

/// A packet that keeps its space in an input buffer.
struct Held {
  net::Packet packet;
  net::LinkId in = net::kNoLink;
};

struct Entry {
  Key key = 0;
  const Region* region = nullptr;
  const TreeNode* node = nullptr;
  std::uint32_t port = 0;
  std::uint16_t way = 0;
  std::uint16_t payload = 0;
  std::uint16_t first = 0;     ///< lowest rank in the sum
  std::uint16_t count = 0;     ///< ranks in the sum
  std::uint16_t expected = 0;  ///< ranks when it is complete
  static constexpr std::uint16_t kNobody = Region::kNobody;
  std::uint16_t skip = kNobody;        ///< lowest rank of the child that contributes nothing here
  std::uint16_t from_above = kNobody;  ///< lowest rank of the contribution that comes from above
  bool push = true;
  bool complete = false;
  sim::Time summed;         ///< when the ALUs are done with everything that has arrived
  std::vector<Held> early;  ///< contributions that came before their turn
  sim::Time early_since;
  Sum sum;
  std::array<std::uint64_t, kMostMembers / 64> came{};  ///< one bit per rank; the watchdog names the others
  EntryId older = kNoEntry;
  EntryId newer = kNoEntry;

  std::uint32_t offset() const { return static_cast<std::uint32_t>(key); }
  bool has(std::uint16_t rank) const { return (came[rank / 64U] >> (rank % 64U) & 1U) != 0; }
  /// The lowest rank whose contribution is still to come; kNobody when all have arrived.
  std::uint16_t turn() const {
    std::uint16_t lowest = from_above != kNobody && !has(from_above) ? from_above : kNobody;
    for (const TreeNode::Child& c : node->children) {
      const std::uint16_t there = region->lowest(region->tree(way), c, offset());
      if (c.first == skip || there == kNobody || has(there)) continue;
      lowest = there < lowest ? there : lowest;
      if (region->everybody()) return lowest;  // children are in the order of their lowest ranks
    }
    return lowest;
  }
};

/// What a job, which is a communicator of a step, has of a port's table.
struct JobShare {
  int job = 0;
  std::uint32_t used = 0;
  std::uint32_t peak = 0;  ///< entries at most, at one time
  std::uint64_t sums = 0;  ///< entries it has taken
};

class ReductionTable {
 public:
  ReductionTable(std::size_t ports, std::uint32_t capacity) : ports_(ports), capacity_(capacity) {}

  EntryId find(Key key) const { return index_.find(key); }
  Entry& operator[](EntryId id) { return entries_[id]; }
  const Entry& operator[](EntryId id) const { return entries_[id]; }

  /// Whether a port can take another entry of this part of its table.
  bool room(std::uint32_t port, const Region& region, std::uint32_t quota) const {
    const Port& p = ports_[port];
    const std::uint32_t used_there = p.used_by(region.partition);
    return p.used + region.weight() <= capacity_ &&
           (used_there == 0 || used_there + region.weight() <= quota);
  }
  /// Requires: room, and no entry of that key.
  EntryId add(Key key, std::uint32_t port, const Region& region) {
    const EntryId id = entries_.take();
    Entry& e = entries_[id];
    e.key = key;
    e.region = &region;
    e.port = port;
    e.first = 0;
    e.count = 0;
    e.skip = Entry::kNobody;
    e.from_above = Entry::kNobody;
    e.complete = false;
    e.summed = {};
    e.early.clear();
    e.sum.clear();
    e.came.fill(0);
    index_.add(key, id);
    Port& p = ports_[port];
    e.older = p.youngest;
    e.newer = kNoEntry;
    (p.youngest == kNoEntry ? p.oldest : entries_[p.youngest].newer) = id;
    p.youngest = id;
    p.used += region.weight();
    p.count_of(region.partition) += region.weight();
    if (p.used > p.peak) p.peak = p.used;
    JobShare& job = p.share_of(region.plan.job);
    job.used += region.weight();
    job.peak = std::max(job.peak, job.used);
    ++job.sums;
    return id;
  }
  void remove(EntryId id) {
    Entry& e = entries_[id];
    Port& p = ports_[e.port];
    index_.remove(e.key);
    (e.older == kNoEntry ? p.oldest : entries_[e.older].newer) = e.newer;
    (e.newer == kNoEntry ? p.youngest : entries_[e.newer].older) = e.older;
    p.used -= e.region->weight();
    p.count_of(e.region->partition) -= e.region->weight();
    p.share_of(e.region->plan.job).used -= e.region->weight();
    entries_.give_back(id);
  }
  /// The oldest entry of a part of a port's table whose partial sum can be evicted; kNoEntry if there is
  /// none. If `of_partition` is false, any part is searched.
  EntryId oldest_partial(std::uint32_t port, bool of_partition, std::uint32_t partition) const {
    for (EntryId id = ports_[port].oldest; id != kNoEntry; id = entries_[id].newer) {
      const Entry& e = entries_[id];
      if (e.push && !e.complete && (!of_partition || e.region->partition == partition)) return id;
    }
    return kNoEntry;
  }

  std::uint32_t used(std::uint32_t port) const { return ports_[port].used; }
  const std::uint64_t& peak(std::uint32_t port) const { return ports_[port].peak; }
  EntryId oldest(std::uint32_t port) const { return ports_[port].oldest; }
  EntryId after(EntryId id) const { return entries_[id].newer; }
  std::size_t ports() const { return ports_.size(); }
  const std::vector<JobShare>& jobs(std::uint32_t port) const { return ports_[port].by_job; }
  /// The job that has most of a port's table now. Requires: it has entries.
  int holder(std::uint32_t port) const {
    return std::ranges::max_element(ports_[port].by_job, {}, &JobShare::used)->job;
  }

 private:
  struct Port {
    std::uint32_t used = 0;
    EntryId oldest = kNoEntry;
    EntryId youngest = kNoEntry;
    std::uint64_t peak = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_partition;  // a list, because there are few
    std::vector<JobShare> by_job;                                       // likewise
    JobShare& share_of(int job) {
      for (JobShare& share : by_job) {
        if (share.job == job) return share;
      }
      return by_job.emplace_back(JobShare{.job = job});
    }
    std::uint32_t used_by(std::uint32_t partition) const {
      for (const auto& [number, used_there] : by_partition) {
        if (number == partition) return used_there;
      }
      return 0;
    }
    std::uint32_t& count_of(std::uint32_t partition) {
      for (auto& [number, used_there] : by_partition) {
        if (number == partition) return used_there;
      }
      return by_partition.emplace_back(partition, 0).second;
    }
  };
  std::vector<Port> ports_;
  std::uint32_t capacity_;
  sim::Pool<Entry> entries_;
  KeyIndex index_;
};

}  // namespace infold::inc
