// An order in which the nodes of all ranks can run one after the other, for traces that are graphs and not
// records: what could begin first comes first.
#pragma once

#include <vector>

#include "formats/trace/trace_groups.h"

namespace infold::formats {

/// By rank: the numbers of its nodes in that order. Nodes that can never run come last, by number.
std::vector<std::vector<int>> order_of_nodes(const TraceWorld& world, const TraceCommunicators& groups);

}  // namespace infold::formats
