// Drawing the network between nodes, and the whole machine that it makes with them. Packets never pass from a
// node's fabric into that network: a NIC ends them and begins others. So each is a fabric of its own, with
// routes and a proof of its own, and the drawing of the whole is for those who count links or draw machines.
#pragma once

#include "net/topology/blueprint.h"
#include "net/topology/scale_out_spec.h"
#include "sim/result.h"

namespace infold::net {

/// The network of nodes · nics NICs, which stand for GPUs in it: NIC i of node n is chip n · nics + i. Behind
/// them come the leaves, then the spines.
sim::Result<Blueprint> draw_scale_out(const ScaleOutSpec& spec, const NicPorts& ports, int nodes, int nics);

/// Nodes that are each `node`, and the network that joins them, as one drawing: the GPUs of all nodes, the
/// switches of all nodes, one NIC per GPU, leaves and spines. Cables are in the same order: those of the
/// nodes, those between GPUs and NICs, which are of type `bus`, those of the network.
/// Requires: `scale_out` has a NIC for each GPU. Fails where that makes too many chips or links.
sim::Result<Blueprint> whole_machine(const Blueprint& node, int nodes, const LinkType& bus,
                                     const Blueprint& scale_out);

}  // namespace infold::net
