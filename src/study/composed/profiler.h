// Makes the profiles of a graph: says which samples they need, has them simulated, and reads them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/collective/collective_run.h"
#include "study/composed/composition.h"
#include "study/composed/kernel_kinds.h"
#include "study/composed/profile_store.h"
#include "study/composed/sample.h"
#include "study/step/step_programs.h"

namespace infold::study::composed {

/// Has samples simulated, on several threads, unless their results are known. Counts what they cost.
class Sampler {
 public:
  Sampler(Scene scene, ProfileStore& store, const KeepGoing& keep_going)
      : scene_(std::move(scene)), store_(store), keep_going_(keep_going) {}

  const Scene& scene() const { return scene_; }
  /// The results of the samples, in their order.
  sim::Result<std::vector<Sampled>> take(const std::vector<Sample>& samples);
  /// Of all samples that were taken, whether simulated now or earlier.
  double events() const { return events_; }
  double packet_hops() const { return packet_hops_; }

 private:
  Scene scene_;
  ProfileStore& store_;
  const KeepGoing& keep_going_;
  double events_ = 0;
  double packet_hops_ = 0;
  std::set<std::string> counted_;
};

class Profiler {
 public:
  /// All arguments must outlive it.
  Profiler(const work::Graph& graph, const StepPrograms& programs, Sampler& sampler);

  /// Profiles of everything alone.
  sim::Status learn_alone();
  /// Profiles of pairs that met and are not known. Returns whether there were any.
  sim::Result<bool> learn(const Meetings& met, double step);
  const Profiles& profiles() const { return profiles_; }

 private:
  /// A kind of communication or copy: one stands for all.
  struct Kind {
    Partner partner = {};
    double next = 0;  ///< of the one that stands for all
    double pace = 0;  ///< the same: bytes per picosecond, or copies, when one follows the other
    work::OpId op = 0;
    std::map<std::int64_t, std::vector<work::OpId>> sizes = {};  ///< of communication: operations by bytes
  };
  void find_partners();
  Partner partner_of(int rank, work::OpId op) const;
  sim::Status shorten(Partner& partner, sim::Bytes to) const;
  sim::Status learn_kernels();
  sim::Status learn_partners();
  sim::Result<bool> learn_beside(const std::set<std::pair<int, PartnerId>>& pairs);
  sim::Result<bool> learn_together(const std::set<std::pair<PartnerId, PartnerId>>& pairs);

  const work::Graph& graph_;
  const StepPrograms& programs_;
  Sampler& sampler_;
  KernelKinds kinds_;
  std::vector<Kind> partners_;
  std::vector<int> rank_of_;  // by operation: the first rank that has it; -1: none
  Profiles profiles_;
};

}  // namespace infold::study::composed
