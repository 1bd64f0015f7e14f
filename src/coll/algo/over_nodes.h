// How collectives go over the nodes of a machine: which ranks each node has, and rings that keep to rails.
#pragma once

#include <span>
#include <vector>

#include "coll/algo/rings.h"
#include "net/topology/blueprint.h"

namespace infold::coll {

/// The ranks of each node, in order of the nodes' first ranks.
using NodeRanks = std::vector<std::vector<int>>;
NodeRanks ranks_of_nodes(const net::Blueprint& blueprint, std::span<const int> gpus);

/// Whether GPUs of a node are joined by switches.
bool has_switches(const net::Blueprint& blueprint);

/// Whether the GPUs are in more than one node.
bool over_nodes(const net::Blueprint& blueprint, std::span<const int> gpus);

/// The rings over several nodes, as many as a node has ranks. Ring r passes the nodes one after the other and
/// enters the first with rank r of that node. Every second node it enters by the rail by which it leaves the
/// first (as NCCL's rings with crossing NICs), so every hop between nodes stays on its rail, every NIC
/// carries one ring out and one in, and within a node the ring is walked as it lies, or backwards. If the
/// number of nodes is odd, the last node has a third rail; with fewer than three ranks per node, the last hop
/// of a ring changes rails then. Entry 0 of a ring may be any rank. Where nodes have different numbers of
/// ranks, there is one ring, in the order of nodes.
std::vector<Ring> rings_over_nodes(const NodeRanks& nodes);

}  // namespace infold::coll
