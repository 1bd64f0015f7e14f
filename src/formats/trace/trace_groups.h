// Which ranks communicate with which: process groups of traces as communicators, those of ranks whose trace
// is not there included.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/trace/trace_nodes.h"
#include "sim/result.h"
#include "work/graph.h"

namespace infold::formats {

/// The traces that there are, and which of them every rank does the same as.
struct TraceWorld {
  const std::vector<RankTrace>* traces = nullptr;
  std::vector<int> trace_of;  ///< by rank

  int ranks() const { return static_cast<int>(trace_of.size()); }
  const RankTrace& trace(int rank) const {
    return (*traces)[static_cast<std::size_t>(trace_of[static_cast<std::size_t>(rank)])];
  }
  /// A rank that the trace of `rank` names, as seen by that rank.
  int seen_by(int rank, int named) const;
};

class TraceCommunicators {
 public:
  /// Fails where the groups of ranks without a trace cannot be told.
  static sim::Result<TraceCommunicators> make(const TraceWorld& world);

  /// The communicator of a group of a rank's trace; -1 if the rank is alone in it.
  work::CommunicatorId of_group(int rank, int group) const {
    return of_group_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(group)];
  }
  /// Its members.
  const std::vector<int>& members(int rank, int group) const {
    return members_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(group)];
  }
  /// The communicator for messages from one rank to another with a tag.
  work::CommunicatorId from_to(int from, int to, std::int64_t tag);

  const std::vector<work::Communicator>& all() const { return all_; }

 private:
  sim::Status add(const TraceWorld& world, int rank);
  std::string unique(std::string name);

  std::vector<work::Communicator> all_;
  std::map<std::string, work::CommunicatorId> by_key_;
  std::map<std::string, int> names_;
  std::map<std::tuple<int, int, std::int64_t>, work::CommunicatorId> pairs_;
  std::vector<std::vector<work::CommunicatorId>> of_group_;
  std::vector<std::vector<std::vector<int>>> members_;
};

}  // namespace infold::formats
