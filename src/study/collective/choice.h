// Which algorithm and protocol a collective should use: by estimate from the machine's figures, by trial
// where estimates can not tell, or by a table of measured choices that a user made earlier.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/collective/collective_run.h"

namespace infold::study {

struct Choice {
  const coll::Algorithm* algorithm = nullptr;
  coll::Protocol protocol = coll::Protocol::kSimple;
  bool operator==(const Choice&) const = default;
};

/// Every algorithm of `algorithms` that offers the job's collective, with every one of `protocols` it can
/// use.
std::vector<Choice> offers(const CollectiveJob& job, std::span<const coll::Algorithm* const> algorithms,
                           std::span<const coll::Protocol> protocols);

/// The same for one algorithm or, if it is null, all there are, and for one protocol or all. A job that has a
/// program has one offer.
std::vector<Choice> offers_of(const CollectiveJob& job, const coll::Algorithm* algorithm,
                              std::optional<coll::Protocol> protocol);

/// Why there are no offers where all algorithms come into question.
std::string why_no_offers(const CollectiveJob& job, std::optional<coll::Protocol> protocol);

/// How long an offer really takes.
using Trial = std::function<sim::Time(const Choice&)>;

/// The offer that is estimated to take least, the first of equals; the best so far when `keep_going` says no.
/// With a trial, offers whose estimates are too close to tell them apart are tried, and the fastest is taken.
/// Requires: offers, a job that passed check_request(). The job's own algorithm and protocol do not count.
Choice choose(const CollectiveJob& job, std::span<const Choice> offers,
              const std::function<bool()>& keep_going = {}, const Trial& trial = {});
/// Simulates an offer; none where that takes more than a second or two, and estimates have to do. The job
/// must outlive it.
Trial simulated(const CollectiveJob& job, std::function<bool()> keep_going = {});
/// What choose() goes by; infinite if the program is too long to look at or does not fit the engine.
double estimate_us(const CollectiveJob& job, const Choice& choice);

/// The best choices by size, as `infold bench --tune` finds them.
struct TuningTable {
  struct Row {
    sim::Bytes up_to;  ///< the last row goes on beyond it
    Choice choice;
  };
  coll::Collective collective = coll::Collective::kAllReduce;
  std::string system;
  int gpus = 0;
  std::vector<Row> rows;  ///< in order of size

  /// Requires: rows.
  Choice at(sim::Bytes bytes) const;
  /// The best for a size larger than all before.
  void add(sim::Bytes bytes, const Choice& best);
  /// Whether it says anything about such a job.
  sim::Status check(const CollectiveJob& job) const;
};

}  // namespace infold::study
