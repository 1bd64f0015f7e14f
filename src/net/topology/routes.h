// Routing tables: computed once from a blueprint, read once a hop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/topology/blueprint.h"
#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::net {

using LinkId = std::uint32_t;
inline constexpr LinkId kNoLink = 0xffff'ffff;

/// Where a packet for one destination may go from one node.
struct Hop {
  std::uint32_t first = 0;    ///< index of its first candidate in Routes::candidates
  std::uint16_t count = 0;    ///< number of candidates; 0 when unreachable or already there
  std::uint16_t divisor = 1;  ///< of the spread value (Blueprint::spread_divisor)
  std::uint8_t layer = 0;     ///< virtual-channel layer on the way out
  std::uint16_t links = 0;    ///< from here to there

  /// Index of the candidate that a packet with this spread value takes. Requires: count > 0.
  std::uint32_t pick(std::uint16_t spread) const {
    std::uint32_t choice = spread;
    if (divisor > 1) choice /= divisor;
    if (choice >= count) choice %= count;  // divisions are the dearest part of a hop
    return first + choice;
  }
};

/// Every node's way to every GPU.
class Routes {
 public:
  /// Fails where a way would need more layers than a hop can name, and where `go_on` says no.
  static sim::Result<Routes> make(const Blueprint& blueprint, const sim::GoOn& go_on = {});

  /// The links that a packet at `from` for GPU `to` may take, in lane order.
  const Hop& hop(NodeId from, NodeId to) const { return hops_[index_of(from, to)]; }
  /// The hops of all nodes, a row of one per GPU each.
  const Hop* table() const { return hops_.data(); }
  std::span<const LinkId> candidates(const Hop& h) const { return {candidates_.data() + h.first, h.count}; }
  /// The link a packet with this spread value takes. Requires: reachable and from != to.
  LinkId next(NodeId from, NodeId to, std::uint16_t spread) const {
    return candidates_[hop(from, to).pick(spread)];
  }
  /// All candidates there are, as Hop::pick counts them.
  std::span<const LinkId> all_candidates() const { return candidates_; }
  int layers() const { return layers_; }
  /// Most hops between any two GPUs.
  int diameter() const { return diameter_; }

 private:
  explicit Routes(const Blueprint& blueprint)
      : gpus_(static_cast<std::size_t>(blueprint.gpus)),
        hops_(static_cast<std::size_t>(blueprint.nodes()) * gpus_) {}
  std::size_t index_of(NodeId from, NodeId to) const {
    return static_cast<std::size_t>(from) * gpus_ + static_cast<std::size_t>(to);
  }

  std::size_t gpus_;
  std::vector<Hop> hops_;
  std::vector<LinkId> candidates_;
  int layers_ = 1;
  int diameter_ = 0;
};

/// Proves that the channel dependency graph over (link, layer) has no cycle. Fails with a readable cycle,
/// e.g. "gpu0->gpu1 (layer 0), gpu1->gpu2 (layer 0), ... ", with a pair of GPUs that cannot reach each other,
/// or where `go_on` says no.
sim::Status prove_no_deadlock(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on = {});

}  // namespace infold::net
