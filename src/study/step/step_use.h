// What a step's kernels and communication cost on one rank, read from its timeline: how
// long compute waited for which communicator, and how much longer kernels took than alone.
#pragma once

#include <string>
#include <vector>

#include "coll/program/collective.h"
#include "sim/units.h"
#include "study/names.h"
#include "study/step/step_programs.h"
#include "study/step/step_times.h"
#include "train/plan.h"
#include "work/timeline.h"

namespace infold::study {

/// Kernels of one class on one rank. Gaps between kernels belong to none.
struct KernelUse {
  KernelClass what = KernelClass::kProduct;
  int kernels = 0;
  sim::Time alone;       ///< in the step without communication
  sim::Time beside;      ///< in the step as it ran
  sim::Time overlapped;  ///< the part of that in which communication was under way
  double slowdown() const { return alone > sim::Time{} ? beside.in_s() / alone.in_s() - 1 : 0; }
  /// The same, counted only while communication was under way; 0 if none was.
  double slowdown_beside() const;
};

/// One kind of communication on one communicator, as one rank saw it.
struct CommunicationUse {
  std::string communicator = {};
  coll::Collective what = coll::Collective::kAllReduce;
  std::vector<std::string> algorithms = {};  ///< names of those that its calls used
  int ranks = 0;                             ///< in a group
  int calls = 0;
  sim::Bytes bytes = {};   ///< of the vectors, all calls together
  sim::Time busy = {};     ///< from the start of each call to its end
  sim::Time exposed = {};  ///< while compute waited for it, before it began or while it was under way
  sim::Time exposed_in_forward = {};   ///< the part of it for which a kernel of forward waited
  sim::Time exposed_in_backward = {};  ///< likewise; for the rest the update waited, or the end of the step
};

/// What compute waited for on one rank.
struct Waits {
  std::vector<sim::Time> by_op;              ///< by operation: communication that compute waited for
  std::vector<sim::Time> by_op_in_forward;   ///< the part of it for which a kernel of forward waited
  std::vector<sim::Time> by_op_in_backward;  ///< likewise
  sim::Time stages;           ///< for stages before and behind that had nothing to send yet: the bubble
  sim::Time exposed() const;  ///< all of by_op
};
/// `phases`: by operation, where it belongs to one. `end`: when the last rank's step ended. Communication
/// behind the last kernel counts, too. Requires: the step has run.
Waits waits_of(const work::Timeline& timeline, int rank, std::span<const std::optional<train::Phase>> phases,
               sim::Time end);

/// What the streams of compute did for communication alone: copies that the step without it does not have,
/// each with the gap of its launch.
struct CopyTime {
  sim::Time step;
  sim::Time forward;   ///< the part of it between forward's first kernel and its last
  sim::Time backward;  ///< likewise
};
/// `alone`: by operation, how long its kernels took without communication. `gap`: of a launch.
CopyTime copy_time(const work::Timeline& timeline, int rank, const std::vector<sim::Time>& alone,
                   const StepTimes& times, sim::Time gap);

/// The time in which collectives of two communicators or more were under way on a rank.
sim::Time together(const work::Timeline& timeline, int rank);

/// By communicator and kind, in the order of first use.
std::vector<CommunicationUse> communication_use(const work::Timeline& timeline, const StepPrograms& programs,
                                                int rank, const Waits& waits);

/// When each operation's kernels ran, by operation; no time for those that did not.
std::vector<sim::Time> kernel_times(const work::Timeline& timeline, int rank);
/// Kernels of the streams of compute that ran both alone and in the step, by class.
std::vector<KernelUse> kernel_use(const work::Timeline& timeline, int rank,
                                  const std::vector<sim::Time>& alone);

}  // namespace infold::study
