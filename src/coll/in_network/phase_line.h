// A track of a trace on which one phase follows the other: a phase ends when the next one begins. Internal to
// coll/.
#pragma once

#include <string>

#include "sim/trace.h"

namespace infold::coll {

class PhaseLine {
 public:
  using TrackId = sim::TraceRecorder::TrackId;
  PhaseLine(sim::TraceRecorder& trace, TrackId track) : trace_(trace), track_(track) {}

  /// Begins the phase of that name, or none if the name is empty. If the name is that of the present phase,
  /// it goes on.
  void turn(sim::Time now, std::string name) {
    if (name == name_) return;
    if (!name_.empty() && now > since_) trace_.detail(track_, trace_.name(name_), since_, now);
    name_ = std::move(name);
    since_ = now;
  }

 private:
  sim::TraceRecorder& trace_;
  TrackId track_;
  std::string name_;
  sim::Time since_;
};

}  // namespace infold::coll
