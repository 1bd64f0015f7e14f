// The proof that summing and distributing along trees cannot deadlock: which link a packet holds the far
// buffer of while it waits for which next link, for everything that units send, together with ordinary
// packets.
#pragma once

#include <span>

#include "inc/tree_shape.h"
#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::inc {

/// Fails with a cycle of links that wait for each other, as readable text, or where `go_on` says no. Message
/// classes wait for each other in one order (net/packet/message_classes.h), so a cycle would have to stay
/// within one class. Here all classes are put into one graph, which proves more than is needed.
sim::Status prove_trees(const net::Blueprint& blueprint, const net::Routes& routes,
                        std::span<const TreeShape> trees, const sim::GoOn& go_on = {});
/// The same for the trees of all GPUs, as far as their routes meet. The trees of smaller groups are parts of
/// these.
sim::Status prove_trees(const net::Blueprint& blueprint, const net::Routes& routes,
                        const sim::GoOn& go_on = {});

}  // namespace infold::inc
