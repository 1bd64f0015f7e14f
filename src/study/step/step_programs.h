// The programs of a step's communication: for each collective, size and group of ranks the algorithm and
// protocol that were asked for, or those that choice.h would take.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "study/collective/choice.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "work/graph.h"

namespace infold::study {

class StepPrograms {
 public:
  struct Entry {
    Choice choice;
    coll::Program program;
  };
  /// `job` says what is the same for all: system, engine, element type, burst. Its algorithm null, or
  /// `protocol` none: to be chosen, which ends early with the best so far when `keep_going` says no.
  StepPrograms(const CollectiveJob& job, std::optional<coll::Protocol> protocol,
               std::function<bool()> keep_going)
      : job_(job), protocol_(protocol), keep_going_(std::move(keep_going)) {}
  /// All-gathers are carried out by another engine than the job's.
  void gather_on(coll::Engine engine) { gather_engine_ = engine; }

  /// Chooses and compiles for the members of a group, unless that was done before. An algorithm that does
  /// not offer a collective leaves it to the first in the table that does, as libraries do.
  sim::Status prepare(const work::Operation& op, sim::Bytes bytes, const std::vector<int>& members);
  /// Prepares all communication of a graph. A gather needs the largest and the smallest that it may form.
  sim::Status prepare(const work::Graph& graph);
  /// The program of the same communication with other bytes. Requires: it was prepared, and so many bytes can
  /// be divided among the ranks.
  sim::Result<coll::Program> resized(const work::Operation& op, sim::Bytes bytes,
                                     const std::vector<int>& members, sim::Bytes to) const;
  /// Replaces all programs there are by what the first `ranks` ranks do when they stand for all
  /// (coll/program/fold.h). False, and nothing changes, where that cannot be.
  bool fold(int ranks);
  /// Requires: it was prepared. Stays where it is.
  const Entry& at(const work::Operation& op, sim::Bytes bytes, const std::vector<int>& members) const {
    return *entries_.at(key_of(op, bytes, members));
  }
  /// The same for what a rank of a graph does.
  const Entry& at(const work::Graph& graph, int rank, work::OpId op) const;

 private:
  /// Collective, root and bytes, the members where it matters which they are, and what tokens are like.
  using Key = std::tuple<coll::Collective, int, std::int64_t, std::vector<int>, work::Collective::Tokens>;
  Key key_of(const work::Operation& op, sim::Bytes bytes, const std::vector<int>& members) const;
  CollectiveJob job_for(const Key& key) const;

  CollectiveJob job_;
  std::optional<coll::Protocol> protocol_;
  std::optional<coll::Engine> gather_engine_;
  std::function<bool()> keep_going_;
  std::map<Key, std::unique_ptr<Entry>> entries_;
};

/// Every communication of a graph that is known before it runs, or may come up, with the first group that
/// has it.
struct PlannedCommunication {
  work::Operation op;
  sim::Bytes bytes;
  std::vector<int> members;
};
std::vector<PlannedCommunication> communications_of(const work::Graph& graph);

/// Refuses an algorithm or a program of the user that carries out none of them, so that all would be left to
/// others under its name. Ring is never refused: it stands for what a library takes.
sim::Status check_has_use(const Method& method, const std::vector<PlannedCommunication>& communications);

}  // namespace infold::study
