// Packets that wait for room in the table of a port. Those of one sum are grouped, and groups are served
// first come, first served. The packets keep their space in the input buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "inc/key_index.h"
#include "inc/reduction_table.h"
#include "sim/pool.h"

namespace infold::inc {

class Stalled {
 public:
  struct Group {
    Key key = 0;
    std::uint32_t port = 0;
    bool push = true;
    sim::Time since;
    std::vector<Held> packets;
    std::uint32_t before = KeyIndex::kNone;
    std::uint32_t after = KeyIndex::kNone;
  };
  explicit Stalled(std::size_t ports) : ends_(ports) {}

  bool any(std::uint32_t port) const { return ends_[port].first != KeyIndex::kNone; }
  std::uint32_t first(std::uint32_t port) const { return ends_[port].first; }
  /// The number of packets that wait, over all ports.
  std::uint64_t packets() const {
    std::uint64_t sum = 0;
    for (const Ends& e : ends_) {
      for (std::uint32_t id = e.first; id != KeyIndex::kNone; id = groups_[id].after)
        sum += groups_[id].packets.size();
    }
    return sum;
  }
  std::uint32_t find(Key key) const { return index_.find(key); }
  Group& operator[](std::uint32_t id) { return groups_[id]; }
  const Group& operator[](std::uint32_t id) const { return groups_[id]; }

  void add(Key key, std::uint32_t port, bool push, const Held& held, sim::Time now) {
    std::uint32_t id = index_.find(key);
    if (id == KeyIndex::kNone) {
      id = groups_.take();
      Group& g = groups_[id];
      g.key = key;
      g.port = port;
      g.push = push;
      g.since = now;
      g.packets.clear();
      g.before = ends_[port].last;
      g.after = KeyIndex::kNone;
      (g.before == KeyIndex::kNone ? ends_[port].first : groups_[g.before].after) = id;
      ends_[port].last = id;
      index_.add(key, id);
    }
    groups_[id].packets.push_back(held);
  }
  /// Appends the packets of the group to `out` and removes the group.
  void remove(std::uint32_t id, std::vector<Held>& out) {
    Group& g = groups_[id];
    out.swap(g.packets);
    (g.before == KeyIndex::kNone ? ends_[g.port].first : groups_[g.before].after) = g.after;
    (g.after == KeyIndex::kNone ? ends_[g.port].last : groups_[g.after].before) = g.before;
    index_.remove(g.key);
    groups_.give_back(id);
  }

 private:
  struct Ends {
    std::uint32_t first = KeyIndex::kNone;
    std::uint32_t last = KeyIndex::kNone;
  };
  std::vector<Ends> ends_;
  sim::Pool<Group> groups_;
  KeyIndex index_;
};

}  // namespace infold::inc
