// Proves a program right or names what is wrong with it, without a machine or a clock: it is carried out on
// symbols, slice by slice and with the buffers it will have. Every schedule gives the same outcome, because a
// workgroup waits for one thing at a time and for nothing else, so one schedule is enough.
#pragma once

#include <optional>
#include <string>

#include "coll/program/program.h"

namespace infold::coll {

struct Flaw {
  int rank = -1;     ///< -1 means the program as a whole
  int channel = -1;  ///< -1 means the rank as a whole
  int step = -1;     ///< counted from 0; -1 means the channel as a whole
  std::string what;
};
/// For example "rank 3 channel 0 step 2 of 14 (recv-reduce-send): counts rank 1 twice".
std::string to_string(const Flaw& flaw, const Program& program);

/// Finds the first flaw: a step that makes no sense, a send or receive without its counterpart, a cyclic
/// wait, a contribution that is missing, counted twice or put in the wrong place, or an average that is not
/// divided exactly once.
std::optional<Flaw> find_flaw(const Program& program);

}  // namespace infold::coll
