// Parameters of a fabric that its topology has no use for. They are refused if a user writes them, or if a
// change of topology would leave them behind unnoticed.
#pragma once

#include <span>
#include <string_view>

#include "net/topology/fabric_spec.h"
#include "sim/result.h"

namespace infold::config {

/// Checks whether this fabric has a use for the parameter at a path such as "fabric.dims".
sim::Status check_used(const net::FabricSpec& fabric, std::string_view path);

/// Checks whether the parameters at those paths have a use, for a fabric that was `before` and became
/// `after`. Fails if one has none, or if the topology changed and nothing was said about the shape of the new
/// one.
sim::Status check_used(const net::FabricSpec& before, const net::FabricSpec& after,
                       std::span<const std::string_view> paths);

}  // namespace infold::config
