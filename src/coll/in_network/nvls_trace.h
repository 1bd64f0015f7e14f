// The trace of a workgroup that uses the switches. Each role has a track, because roles work on different
// rounds at the same time. Internal to coll/.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "coll/engine/executor.h"
#include "coll/in_network/phase_line.h"

namespace infold::coll {

class NvlsTrace {
 public:
  /// The work of a role. A role that does not work and has rounds left waits.
  struct Role {
    bool busy = false;
    std::uint32_t round = 0;  ///< the round that it works on or waits for
    std::uint32_t rounds = 0;
  };

  /// Requires: context.trace.
  NvlsTrace(const ExecutorContext& context, int rank, int channel, bool copies_in)
      : copies_in_(copies_in),
        scatter_(line(context, rank, channel, "scatter")),
        reduce_(line(context, rank, channel, "reduce")),
        gather_(line(context, rank, channel, "gather")) {}

  void now(sim::Time at, const Role& scatter, const Role& reduce, const Role& gather) {
    if (copies_in_) scatter_.turn(at, said(scatter, "copies in round", "waits for a free slot"));
    reduce_.turn(at, said(reduce, "switches reduce round", "polls: has everybody staged?"));
    gather_.turn(at, said(gather, "copies out round", "waits for sums"));
  }

 private:
  static PhaseLine line(const ExecutorContext& context, int rank, int channel, const char* role) {
    return {*context.trace, context.trace_track(rank, fmt::format("channel {}: {}", channel, role))};
  }
  static std::string said(const Role& role, const char* works, const char* waits) {
    if (role.busy) return fmt::format("{} {}", works, role.round);
    return role.round < role.rounds ? waits : "";
  }

  bool copies_in_;
  PhaseLine scatter_;
  PhaseLine reduce_;
  PhaseLine gather_;
};

}  // namespace infold::coll
