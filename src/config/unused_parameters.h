// Parameters of a fabric that its topology has no use for: refused where a user writes them, and where a
// change of topology would leave them behind unnoticed.
#pragma once

#include <span>
#include <string_view>

#include "net/topology/fabric_spec.h"
#include "sim/result.h"

namespace infold::config {

/// Why the parameter at that path ("fabric.dims") should not have been written for this fabric.
sim::Status refuse_unused(const net::FabricSpec& fabric, std::string_view path);

/// Why the parameters at those paths should not have been set, where `before` is what there was and `after`
/// what became of it: one has no use, or the topology is another and nothing was said of the new one's shape.
sim::Status refuse_unused(const net::FabricSpec& before, const net::FabricSpec& after,
                          std::span<const std::string_view> paths);

}  // namespace infold::config
