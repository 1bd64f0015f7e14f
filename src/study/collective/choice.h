// Chooses the algorithm and protocol of a collective: by estimate from the machine's figures, by trial where
// estimates cannot tell, or by a table of measured choices that a user made earlier.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/collective/collective_run.h"

namespace infold::study {

struct Choice {
  const coll::Algorithm* algorithm = nullptr;
  coll::Protocol protocol = coll::Protocol::kSimple;
  const coll::OwnProgram* program = nullptr;  ///< of a user, instead of an algorithm
  bool operator==(const Choice&) const = default;
};
/// Of the algorithm or the program.
inline std::string_view name_of(const Choice& c) {
  if (c.program != nullptr) return c.program->name;
  return c.algorithm == nullptr ? "none" : c.algorithm->name;
}

/// Every algorithm of `algorithms` that offers the job's collective, with every one of `protocols` it can
/// use.
std::vector<Choice> offers(const CollectiveJob& job, std::span<const coll::Algorithm* const> algorithms,
                           std::span<const coll::Protocol> protocols);

/// The same for one algorithm or, if it is null, for all there are, and for one protocol or all. A job that
/// has a program has one offer; if no protocol is named, it is the program's own.
std::vector<Choice> offers_of(const CollectiveJob& job, const coll::Algorithm* algorithm,
                              std::optional<coll::Protocol> protocol);

/// The reason why there are no offers, if all algorithms were considered.
std::string why_no_offers(const CollectiveJob& job, std::optional<coll::Protocol> protocol);

/// Finds out how long an offer really takes.
using Trial = std::function<sim::Time(const Choice&)>;

/// Returns the offer that is estimated to take least, the first of equals; the best so far when `keep_going`
/// says no. With a trial, offers whose estimates are too close to tell them apart are tried, and the fastest
/// is taken. Requires: offers, and a job that passed check_request(). The job's own algorithm and protocol
/// are ignored.
Choice choose(const CollectiveJob& job, std::span<const Choice> offers,
              const std::function<bool()>& keep_going = {}, const Trial& trial = {});
/// A trial that simulates an offer. There is none if that would take more than a second or two, and then
/// estimates have to do. The job must outlive it.
Trial simulated(const CollectiveJob& job, std::function<bool()> keep_going = {});
/// The estimate that choose() compares; infinite if the program is too long to estimate or does not fit the
/// engine.
double estimate_us(const CollectiveJob& job, const Choice& choice);

/// The best choices by size, as `infold bench --tune` finds them.
struct TuningTable {
  struct Row {
    sim::Bytes up_to;  ///< the last row also covers larger sizes
    Choice choice;
  };
  coll::Collective collective = coll::Collective::kAllReduce;
  std::string system;
  int gpus = 0;
  std::vector<Row> rows;  ///< in ascending order of size

  /// Requires: rows.
  Choice at(sim::Bytes bytes) const;
  /// Adds the best choice for a size that is larger than all before.
  void add(sim::Bytes bytes, const Choice& best);
  /// Checks whether the table says anything about such a job.
  sim::Status check(const CollectiveJob& job) const;
};

}  // namespace infold::study
