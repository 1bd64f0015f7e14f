// Parameters of a fabric that its topology has no use for: refused where a user writes them, and where a
// change of topology would leave them behind unnoticed.
#pragma once

#include <span>
#include <string_view>

#include "net/topology/fabric_spec.h"
#include "sim/result.h"

namespace infold::config {

/// Whether this fabric has a use for the parameter at that path ("fabric.dims").
sim::Status check_used(const net::FabricSpec& fabric, std::string_view path);

/// Whether the parameters at those paths have a use, where `before` is what there was and `after` what became
/// of it. Fails where one has none, or where the topology is another and nothing was said of the new one's
/// shape.
sim::Status check_used(const net::FabricSpec& before, const net::FabricSpec& after,
                       std::span<const std::string_view> paths);

}  // namespace infold::config
