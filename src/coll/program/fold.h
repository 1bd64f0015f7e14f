// Where every rank does the same as every other, only turned round, as in a ring, a few can stand for all.
#pragma once

#include <optional>

#include "coll/program/program.h"

namespace infold::coll {

/// The program as the first `ranks` of its ranks carry it out, rank r standing for r + ranks, r + 2 · ranks
/// and so on: each sends to, and receives from, who stands for its peers. A step moves the mean of what it
/// moves on each rank, which differs by a little at the end of a message. None where ranks do different
/// things, or where a rank would have to send to itself. Its results are of no use, but its times are, if
/// ranks are also alike to the fabric.
std::optional<Program> folded(const Program& program, int ranks);

}  // namespace infold::coll
