// Proof that summing and spreading along trees can not block: which link a packet holds the far buffer of
// while it waits for which next one, for everything that units send, together with ordinary packets.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "inc/regions.h"

namespace infold::inc {

/// A circle of links that wait for each other, readable; none if there is none. Message classes wait for
/// each other in one order (net/packet/message_classes.h), so a circle would have to stay within one class;
/// here all classes are put into one graph, which proves more than is needed.
std::optional<std::string> find_deadlock(const net::Network& network, std::span<const Tree> trees);
/// The same for the trees of all GPUs, as far as their ways meet. Groups of fewer have parts of these.
std::optional<std::string> find_deadlock(const net::Network& network, const Regions& regions);

}  // namespace infold::inc
