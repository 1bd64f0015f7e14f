// If every rank does the same as every other, only turned round, as in a ring, then a few ranks can represent
// all.
#pragma once

#include <optional>

#include "coll/program/program.h"

namespace infold::coll {

/// The program as its first `ranks` ranks carry it out, where rank r represents r + ranks, r + 2 · ranks and
/// so on: each sends to, and receives from, the ranks that represent its peers. A step moves the mean of what
/// it moves on each rank, which differs by a little at the end of a message. There is none if ranks do
/// different things, or if a rank would have to send to itself. The values that it computes are of no use,
/// but its times are, if ranks are also alike to the fabric.
std::optional<Program> folded(const Program& program, int ranks);

}  // namespace infold::coll
