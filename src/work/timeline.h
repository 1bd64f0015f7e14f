// When the operations of a graph ran, whoever ran them: the runtime in detail, or a composition of profiles.
// What reads a step off (phases, waits, uses) reads a timeline.
#pragma once

#include <vector>

#include "coll/program/program.h"
#include "sim/units.h"
#include "work/graph.h"

namespace infold::work {

class Timeline {
 public:
  struct Times {
    sim::Time ready = sim::Time::never();  ///< all that it waited for besides its stream had ended
    sim::Time start =
        sim::Time::never();  ///< the stream came to it; from here it waits for SMs and other ranks
    sim::Time end = sim::Time::never();
    bool over() const { return end != sim::Time::never(); }
  };
  virtual ~Timeline() = default;

  /// The graph, with the operations that were added as it ran.
  virtual const Graph& graph() const = 0;
  /// Requires: it has run, or nothing was to run.
  virtual Times times(int rank, OpId op) const = 0;
  /// When the last member of a communication had come to it. Requires: it has run.
  virtual sim::Time all_there(int rank, OpId op) const = 0;
  /// Whether its kernels have run.
  virtual bool ran(int rank, OpId op) const = 0;
  virtual const coll::Program& program(int rank, OpId op) const = 0;

  /// All collectives and transfers, in the order of the list.
  std::vector<OpId> communications(int rank) const;

 protected:
  Timeline() = default;
  Timeline(const Timeline&) = default;
  Timeline& operator=(const Timeline&) = default;
};

}  // namespace infold::work
