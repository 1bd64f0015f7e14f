// A track of a trace on which one thing is done after the other: what is done now ends when something else
// begins. Internal to coll/.
#pragma once

#include <string>

#include "sim/trace.h"

namespace infold::coll {

class PhaseLine {
 public:
  using TrackId = sim::TraceRecorder::TrackId;
  PhaseLine(sim::TraceRecorder& trace, TrackId track) : trace_(trace), track_(track) {}

  /// From now on this is done; nothing, if the name is empty. The same again goes on.
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
