// The programs that reduce a step's buckets: for each size the algorithm and protocol that were asked for, or
// those that choice.h would take.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "study/collective/choice.h"
#include "study/collective/collective_run.h"

namespace infold::study {

class BucketPrograms {
 public:
  struct Entry {
    Choice choice;
    coll::Program program;
  };
  /// `job`: an all-reduce of any size. Its algorithm null, or `protocol` none: to be chosen, which ends early
  /// with the best so far when `keep_going` says no.
  BucketPrograms(const CollectiveJob& job, std::optional<coll::Protocol> protocol,
                 std::function<bool()> keep_going)
      : job_(job), protocol_(protocol), keep_going_(std::move(keep_going)) {}

  /// Chooses and compiles for this size, unless that was done before.
  sim::Status prepare(sim::Bytes bytes);
  /// Replaces all programs there are by what the first `ranks` ranks do when they stand for all
  /// (coll/program/fold.h). False, and nothing changes, where that cannot be.
  bool fold(int ranks);
  /// Requires: prepare(bytes). Stays where it is.
  const Entry& operator[](sim::Bytes bytes) const { return *entries_.at(bytes.count()); }

 private:
  CollectiveJob job_;
  std::optional<coll::Protocol> protocol_;
  std::function<bool()> keep_going_;
  std::map<std::int64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace infold::study
