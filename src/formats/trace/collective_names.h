// What traces call collectives, and the types of their elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/trace/trace_nodes.h"

namespace infold::formats {

/// What a name says: "allreduce", "_allgather_base", "nccl:all_to_allv", "ncclDevKernel_ReduceScatter_...".
struct NamedCollective {
  TraceNode::Kind kind = TraceNode::Kind::kCollective;
  coll::Collective what = coll::Collective::kAllReduce;
};
/// None if it is no collective or message that is known.
std::optional<NamedCollective> collective_named(std::string_view name);

/// The bytes of an element: "Float", "BFloat16", "c10::Half", "float". None if the name is not known.
std::optional<int> element_bytes_named(std::string_view type);
std::optional<sim::DataType> data_type_named(std::string_view type);

}  // namespace infold::formats
