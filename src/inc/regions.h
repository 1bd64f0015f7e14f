// Regions: ranges of addresses that stand for a group of GPUs instead of one (the multicast table), and the
// trees of switches along which a block of such a range is summed and distributed.
//
// The address of a block selects its route through the fabric, the same for every member. The switches on the
// routes of the members form a tree: its leaves are the members, and its root is where all routes have met.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inc/tag.h"
#include "inc/tree_shape.h"
#include "net/interleaving.h"
#include "net/topology/fabric_map.h"
#include "sim/dtype.h"
#include "sim/result.h"

namespace infold::inc {

/// Which ranks get the sums of what is pushed.
enum class ResultTo : std::uint8_t { kAll, kHome };

struct RegionPlan {
  std::vector<net::NodeId> members;  ///< GPUs in rank order
  sim::Bytes bytes;
  std::uint64_t address = 0;  ///< address of its first byte; selects the routes
  sim::DataType type = sim::DataType::kFp32;
  sim::ReduceOp op = sim::ReduceOp::kSum;
  ResultTo result_to = ResultTo::kAll;
  int root = -1;     ///< the rank that is home of every block; -1: each rank is home of an equal part
  int job = 0;       ///< number of the job, for sharing tables by job
  int number = 0;    ///< which of the regions of its collective it is
  int network = 0;   ///< which network its packets take, where there are several
  sim::Bytes block;  ///< bytes of one packet, at most inc.payload; 0: inc.payload
  int burst = 1;     ///< this many packets travel, and are summed, as one; each of them still counts
  sim::Bytes part;   ///< whole blocks that a rank is home of, rank after rank in turn; 0: one part per rank
  /// How many ranks take part in each part: they contribute to its sum, or get its copies. Of part number q
  /// of n ranks these are fan_out ranks in a row from rank (q / n + q % n) % n on. 0: all take part in
  /// everything.
  int fan_out = 0;
};

/// One switch of a tree: which nodes are below it, and which link goes up.
struct TreeNode {
  struct Child {
    net::NodeId node = 0;
    net::LinkId out = net::kNoLink;  ///< the link down to it
    std::uint16_t first = 0;         ///< lowest rank below it
    std::uint16_t members = 0;       ///< ranks below it
  };
  net::NodeId chip = 0;
  net::LinkId parent = net::kNoLink;  ///< the link up; kNoLink at the root
  std::vector<Child> children;        ///< in order of their lowest rank
  std::uint16_t members = 0;          ///< ranks below it
  std::uint16_t first_elsewhere = 0;  ///< lowest rank that is not below it, where there is one

  std::uint16_t first() const { return children.front().first; }
  /// Index of the child `node`; children.size() when it is not a child.
  std::size_t child(net::NodeId node) const;
};

class Tree {
 public:
  /// Returns nothing when the routes do not meet.
  static std::optional<Tree> grow(int gpus, const TreeGrower& grower, std::span<const net::NodeId> members,
                                  std::uint16_t way);
  /// Requires: the switch belongs to it.
  const TreeNode& at(net::NodeId chip) const {
    return nodes_[index_[static_cast<std::size_t>(chip - gpus_)]];
  }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  net::NodeId root() const { return nodes_.back().chip; }
  bool is_gpu(net::NodeId node) const { return node < gpus_; }

 private:
  net::NodeId gpus_ = 0;
  std::vector<TreeNode> nodes_;       // the root is last
  std::vector<std::uint16_t> index_;  // by switch
};

class Region {
 public:
  RegionId id = 0;
  RegionPlan plan;
  std::uint32_t partition = 0;  ///< the part of a table that it uses (inc/policy_sharing.h)

  int members() const { return static_cast<int>(plan.members.size()); }
  int home_rank(std::uint32_t offset) const {
    if (plan.root >= 0) return plan.root;
    return static_cast<int>(offset / part_ % static_cast<std::uint32_t>(members()));
  }
  net::NodeId home(std::uint32_t offset) const {
    return plan.members[static_cast<std::size_t>(home_rank(offset))];
  }
  const Tree& tree(std::uint16_t way) const { return trees_[way]; }
  /// Who takes part in a block: whether a rank does, how many ranks do, how many of those below a child or a
  /// node of a tree, and the lowest of these (kNobody: none).
  static constexpr std::uint16_t kNobody = 0xffff;
  bool everybody() const { return plan.fan_out == 0 || plan.fan_out >= members(); }
  bool takes_part(int rank, std::uint32_t offset) const {
    if (everybody()) return true;
    const auto n = static_cast<std::uint32_t>(members());
    const std::uint32_t q = offset / part_;
    const std::uint32_t first = (q / n + q % n) % n;
    return (static_cast<std::uint32_t>(rank) + n - first) % n < static_cast<std::uint32_t>(plan.fan_out);
  }
  std::uint16_t contributors() const {
    return static_cast<std::uint16_t>(everybody() ? members() : plan.fan_out);
  }
  std::uint16_t below(const Tree& tree, const TreeNode::Child& child, std::uint32_t offset) const {
    if (everybody()) return child.members;
    if (tree.is_gpu(child.node)) return takes_part(child.first, offset) ? 1 : 0;
    return below(tree, tree.at(child.node), offset);
  }
  std::uint16_t below(const Tree& tree, const TreeNode& node, std::uint32_t offset) const;
  std::uint16_t lowest(const Tree& tree, const TreeNode::Child& child, std::uint32_t offset) const;
  /// The lowest rank that takes part and is not below a node; kNobody where there is none.
  std::uint16_t lowest_elsewhere(const Tree& tree, const TreeNode& node, std::uint32_t offset) const;
  /// The number of packets that a number of bytes, or a request for them, stands for.
  std::uint16_t packets(std::int64_t bytes) const {
    return static_cast<std::uint16_t>(bytes <= packet_ ? 1 : (bytes + packet_ - 1) / packet_);
  }
  /// What is drawn by chance for its blocks (home ports, how soon memory replies) is drawn by this. It does
  /// not depend on what ran before, as the id does.
  std::uint64_t seed() const {
    return static_cast<std::uint64_t>(plan.job) * kMostRegions + static_cast<std::uint64_t>(plan.number);
  }
  /// Number of entries that a block takes in a table.
  std::uint32_t weight() const { return static_cast<std::uint32_t>(plan.burst); }
  /// Bytes of one packet or burst, and the bytes in a row that one rank is home of.
  std::uint32_t block() const { return block_; }
  std::uint32_t part() const { return part_; }

 private:
  friend class Regions;
  std::int64_t packet_ = 1;
  std::uint32_t block_ = 1;
  std::uint32_t part_ = 1;
  std::vector<Tree> trees_;
};

class Regions {
 public:
  Regions(const net::FabricMap& map, const net::Interleaving& interleaving, const struct IncSpec& spec);

  /// Registers a range, or says why the fabric cannot serve it. Bounded: kMostRegions at a time.
  sim::Result<RegionId> add(RegionPlan plan);
  /// Requires: nothing of it is under way.
  void remove(RegionId id);
  const Region& operator[](RegionId id) const { return *regions_[id]; }
  bool exists(RegionId id) const { return id < regions_.size() && regions_[id] != nullptr; }
  /// The route of a block: the spread value of its packets.
  std::uint16_t way(RegionId id, std::uint32_t offset) const {
    return static_cast<std::uint16_t>(interleaving_.spread_of((*this)[id].plan.address + offset) % ways());
  }
  /// The number of different routes.
  std::uint16_t ways() const { return grower_.ways(); }
  /// The number of parts that tables are divided into, at least one (inc/policy_sharing.h).
  std::uint32_t partitions() const { return active_partitions_ == 0 ? 1 : active_partitions_; }

 private:
  void number_partitions();

  const net::FabricMap& map_;
  const net::Interleaving& interleaving_;
  const IncSpec& spec_;
  TreeGrower grower_;
  std::size_t next_ = 0;  // where the search for a free slot begins
  std::uint32_t active_partitions_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;
};

}  // namespace infold::inc
