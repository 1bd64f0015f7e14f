// The trace of a rank's collective engine: its steps, and the progress of its results and answers. Internal
// to coll/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coll/engine/executor.h"
#include "coll/in_network/phase_line.h"
#include "inc/waves.h"

namespace infold::coll {

class EngineTrace {
 public:
  /// Requires: context.trace.
  EngineTrace(const ExecutorContext& context, int rank);

  void begins(sim::Time now) { steps_.turn(now, "sets up"); }
  void begins_step(sim::Time now, const Step& step) { steps_.turn(now, name_of(step)); }
  /// Everything has been sent and asked for.
  void waits(sim::Time now, bool for_results) {
    steps_.turn(now, for_results ? "waits for results" : "waits to be asked");
  }
  void ends(sim::Time now) { steps_.turn(now, ""); }

  /// A push to all ranks begins, which goes in waves, of which `in_flight` are under way at a time.
  void begins_waves(sim::Time now, int in_flight);
  /// More of its waves may be complete.
  void waves(sim::Time now, const inc::Waves& waves);

  /// From now on, this many bytes are to be received and to be sent in reply.
  void expects(sim::Time now, sim::Bytes to_receive, sim::Bytes to_reply);
  void received(sim::Time now, sim::Bytes bytes) { results_.add(*this, now, bytes); }
  void replied(sim::Time now, sim::Bytes bytes) { answers_.add(*this, now, bytes); }

 private:
  /// A span for each sixteenth of the bytes.
  struct Progress {
    const char* label;
    const char* name;
    std::int64_t total = 0;
    std::int64_t come = 0;
    int parts = 0;
    sim::Time since;

    void add(EngineTrace& owner, sim::Time now, sim::Bytes bytes);
  };
  static constexpr int kParts = 16;
  static constexpr int kMostLanes = 16;

  sim::TraceRecorder::TrackId track(const std::string& label) const;

  const ExecutorContext& context_;
  int rank_;
  PhaseLine steps_;
  Progress results_{.label = "engine: results", .name = "results", .since = {}};
  Progress answers_{.label = "engine: answers", .name = "answers", .since = {}};
  // Waves under way: a wave begins when the one `in_flight` before it is complete, so waves that are this far
  // apart never overlap and share a lane.
  std::vector<sim::Time> lanes_;
  std::size_t complete_ = 0;
};

}  // namespace infold::coll
