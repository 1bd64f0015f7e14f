// The proof that summing and distributing along trees cannot deadlock: which link a packet holds the far
// buffer of while it waits for which next link, for everything that units send, together with ordinary
// packets.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "inc/regions.h"

namespace infold::inc {

/// A cycle of links that wait for each other, as readable text, or nothing if there is none. Message classes
/// wait for each other in one order (net/packet/message_classes.h), so a cycle would have to stay within one
/// class. Here all classes are put into one graph, which proves more than is needed.
std::optional<std::string> find_deadlock(const net::FabricMap& map, std::span<const Tree> trees);
/// The same for the trees of all GPUs, as far as their routes meet. The trees of smaller groups are parts of
/// these.
std::optional<std::string> find_deadlock(const net::FabricMap& map, const Regions& regions);

}  // namespace infold::inc
