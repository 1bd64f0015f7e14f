// Which rings a collective uses on a fabric: orders of the ranks, each of which is walked as a circle. On
// point-to-point fabrics the rings follow the cables, and no two of them share a link.
#pragma once

#include <span>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::coll {

/// A ring visits every rank once; rank ring[i] sends to ring[i + 1], the last one to the first.
/// Entries are ranks, i.e. indices into the list of GPUs, not GPU numbers; entry 0 is rank 0 within a node.
using Ring = std::vector<int>;

/// The rings over `gpus`, where gpus[r] is the GPU of rank r. Requires: distinct GPUs of the blueprint.
/// Guarantees: at least one ring; the same rings for the same input, on any machine.
///
/// With switches there is one ring, in the order of the ranks. In natural order that keeps the GPUs of a
/// group (fat tree, PCIe tree) next to each other, and a single ring can use all lanes of a GPU.
///
/// Without switches each ring takes one link, in one direction, of each cable it walks over; parallel cables
/// count singly. The more such rings, the more of a GPU's links work at once; a cable can serve two rings,
/// one each way. There are at most as many rings as the GPU with the fewest has links to the others, and on
/// fabrics of usual size that many are found: 7 on a full mesh of 8, 6 on the cube mesh, 4 on a 4x4 torus, 2
/// on a ring, and for two ranks one for each cable between them. (A full mesh of 4 or 6 has no more than 2
/// or 4.) The search is bounded to some 30 ms, so among many dozens of GPUs it may find fewer than there are.
///
/// Over several nodes rings keep to rails (coll/algo/over_nodes.h), and within a node to the order of ranks.
///
/// If the cables between these GPUs allow no ring at all, there is one in the order of the ranks, some of
/// whose steps take several hops.
std::vector<Ring> find_rings(const net::Blueprint& blueprint, std::span<const int> gpus);

}  // namespace infold::coll
