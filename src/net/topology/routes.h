// Routing tables: computed once from a blueprint, read once per hop.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "net/topology/blueprint.h"
#include "net/topology/twins.h"
#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::net {

/// Where a packet for one destination may go from one node.
struct Hop {
  std::uint32_t first = 0;    ///< index of its first candidate in Routes::candidates
  std::uint16_t count = 0;    ///< number of candidates; 0 when unreachable or already there
  std::uint16_t divisor = 1;  ///< of the spread value (Blueprint::spread_divisor)
  std::uint16_t stride = 0;   ///< in the tables: from the candidates of one twin to those of the next
  std::uint16_t links = 0;    ///< from here to there
  std::uint8_t layer = 0;     ///< virtual-channel layer on the way out

  /// Which candidate a packet with this spread value takes. Requires: count > 0.
  std::uint32_t pick(std::uint16_t spread) const {
    std::uint32_t choice = spread;
    if (divisor > 1) choice /= divisor;
    if (choice >= count) choice %= count;  // divisions are the dearest part of a hop
    return choice;
  }
};

/// The tables as a hop reads them: a row per group of twins (net/topology/twins.h) and switch, a column per
/// group of twins. Points into Routes, which must outlive it.
class RouteTable {
 public:
  RouteTable(const std::vector<Hop>& hops, const Twins& twins, NodeId gpus)
      : hops_(hops.data()), places_(twins.places()), columns_(twins.gpu_groups()), gpus_(gpus) {}

  /// The row of a node. The same for all its twins, but for the candidates.
  const Hop* row(NodeId node) const { return hops_ + places_[index_of(node)].group * columns_; }
  /// Where a GPU stands: its column is its group.
  const TwinPlace& place(NodeId gpu) const { return places_[index_of(gpu)]; }

  const Hop& hop(NodeId from, NodeId to) const { return row(from)[place(to).group]; }
  /// Index of the first candidate, in Routes::all_candidates. A switch has links of its own to each twin,
  /// and each twin has links of its own to its switches.
  std::uint32_t first(const Hop& hop, NodeId from, NodeId to) const {
    return first(hop, place(from < gpus_ ? from : to));
  }
  /// The same where it is known who has links of its own: the GPU that a packet starts from, or else the one
  /// that it is for. (Where packets pass through GPUs, none has twins.)
  static std::uint32_t first(const Hop& hop, const TwinPlace& twin) {
    return hop.first + hop.stride * twin.member;
  }

 private:
  const Hop* hops_;
  const TwinPlace* places_;
  std::size_t columns_;
  NodeId gpus_;
};

/// Every node's way to every GPU. Grows with the number of GPUs and switches that differ in their neighbours,
/// not with that of GPUs.
class Routes {
 public:
  /// Entries of the tables, of 16 bytes each: no more are allowed.
  static constexpr std::size_t kMostHops = 80'000'000;

  /// Fails where the tables would be too large, where a way would need more layers than a hop can name, and
  /// where `go_on` says no.
  static sim::Result<Routes> make(const Blueprint& blueprint, const sim::GoOn& go_on = {});

  /// The links that a packet at `from` for GPU `to` may take, in lane order.
  Hop hop(NodeId from, NodeId to) const {
    if (from == to) return {};
    Hop hop = table().hop(from, to);
    hop.first = table().first(hop, from, to);
    return hop;
  }
  RouteTable table() const { return {hops_, twins_, gpus_}; }
  std::span<const LinkId> candidates(const Hop& h) const { return {candidates_.data() + h.first, h.count}; }
  /// The link a packet with this spread value takes. Requires: reachable and from != to.
  LinkId next(NodeId from, NodeId to, std::uint16_t spread) const {
    const Hop h = hop(from, to);
    return candidates_[h.first + h.pick(spread)];
  }
  /// All candidates there are, as RouteTable::first counts them.
  std::span<const LinkId> all_candidates() const { return candidates_; }
  int layers() const { return layers_; }
  /// Most hops between any two GPUs.
  int diameter() const { return diameter_; }
  /// Whose ways are in the tables.
  const Twins& twins() const { return twins_; }

 private:
  friend class RouteBuilder;
  Routes(NodeId gpus, Twins twins) : gpus_(gpus), twins_(std::move(twins)) {}

  NodeId gpus_;
  Twins twins_;
  std::vector<Hop> hops_;  // row after row
  std::vector<LinkId> candidates_;
  int layers_ = 1;
  int diameter_ = 0;
};

/// Proves that the channel dependency graph over (link, layer) has no cycle. Fails with a readable cycle,
/// e.g. "gpu0->gpu1 (layer 0), gpu1->gpu2 (layer 0), ... ", with a pair of GPUs that cannot reach each other,
/// or where `go_on` says no.
sim::Status prove_no_deadlock(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on = {});

}  // namespace infold::net
