// One training step on several GPUs: kernels and collectives on one machine, and what each costs the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/memory/memory_system.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/core.h"
#include "sim/result.h"
#include "study/collective/choice.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "study/names.h"
#include "study/step/step_history.h"
#include "study/step/step_times.h"
#include "study/step/step_use.h"
#include "train/graph.h"
#include "train/layout.h"
#include "train/memory_need.h"
#include "train/recipe.h"
#include "train/schedule/pipeline_spec.h"
#include "train/strategy/sync_spec.h"

namespace infold::study {

namespace composed {
class ProfileStore;
}

/// How closely a step is to be simulated. Without a level, what `StepJob::burst` says.
struct FidelityChoice {
  std::optional<Fidelity> level = {};
  /// The finest level that takes about so many seconds at most, by estimate; else composed. 0: `level` says.
  double budget_s = 0;
};

struct StepJob {
  SystemPtr system;
  train::Layout layout{.dp = 0};  ///< of `gpus` ranks; dp 0 means as many as the others leave
  bool sequence_parallel =
      false;               ///< where tensor-parallel ranks share layers, they divide tokens between them
  double expert_skew = 1;  ///< tokens of the expert that gets most, against the mean
  train::KeyExchange key_exchange = train::KeyExchange::kAllGather;  ///< of context-parallel ranks
  train::ExpertExchange expert_exchange = train::ExpertExchange::kAllToAll;
  train::PipelineSpec pipeline = {};
  int gpus = 0;  ///< two or more; the first ones of the system are used
  const train::Graph* graph = nullptr;
  train::Recipe recipe;
  bool ignore_memory = false;
  train::SyncSpec sync;
  Method method;
  std::optional<coll::Engine> gather_engine = {};  ///< of all-gathers, if it is not the method's
  std::optional<coll::Protocol> protocol;          ///< if there is none, it is chosen for each bucket
  bool overlap = true;                             ///< if false, nothing is reduced before backward has ended
  gpu::CoreOptions core{};  ///< what is shared, reserved SMs, the collectives' priority
  BurstChoice burst;
  FidelityChoice fidelity = {};
  /// Where composed steps keep their profiles. Null: each step makes its own.
  std::shared_ptr<composed::ProfileStore> profiles = {};
  std::vector<sim::Time> delays = {};  ///< how late each GPU begins the step; if empty, none is late
  /// GPUs that are in step are simulated once, until the first collective tells them apart. The result is the
  /// same without it.
  bool together = true;
  Fold fold = Fold::kAuto;
  std::optional<sim::TraceSpec> trace = {};  ///< nothing is recorded if there is none
};

/// The life of one bucket; each time is that of the last GPU.
struct BucketResult {
  sim::Bytes bytes;
  std::int64_t elements = 0;
  Choice choice;
  sim::Time ready;  ///< when all of its gradients are there
  sim::Time start;  ///< when the collectives before it have ended
  sim::Time end;
};

/// What a communicator had of the switches' reduction tables, which all communicators share.
struct TableUse {
  std::string communicator;
  std::uint64_t peak_entries = 0;  ///< of the port where it had the most at one time
  std::uint64_t sums = 0;
  /// Contributions and requests that found no room, by the communicator that had most of the table then.
  struct Stall {
    std::string behind;
    std::uint64_t times = 0;
  };
  std::vector<Stall> stalls = {};
};

/// The same step on one GPU that reduces nothing, copies into buckets included.
struct AloneResult {
  StepTimes times;
  std::vector<sim::Time> kernels;  ///< how long each operation's took, by operation of the graph
  std::uint64_t events = 0;
};

struct StepResult {
  sim::Time forward;   ///< of the GPU with the longest backward, as are the next two
  sim::Time backward;  ///< from the start of the first gradient kernel to the end of the last
  sim::Time optimizer;
  sim::Time exposed;  ///< from the end of backward on the last GPU to the last update, without a launch
  sim::Time end;      ///< the end of the last GPU's update, counted from the start
  AloneResult alone;
  sim::Time communicating;              ///< time in which a collective was on that GPU
  sim::Time communicating_in_backward;  ///< the part of it in which backward ran
  sim::Time together;                   ///< time in which collectives of several communicators were on it
  int communicators = 0;                ///< that collectives of the step use
  std::vector<TableUse> tables;         ///< if switches reduce: of all GPUs' collectives
  std::vector<BucketResult> buckets;
  std::vector<CommunicationUse> communication;  ///< of that GPU, as are the next three
  std::vector<KernelUse> kernels;
  CopyTime copied;   ///< for communication, by the streams of compute
  sim::Time waited;  ///< compute, for communication: in forward, in backward and behind
  sim::Time bubble;  ///< compute, for stages that had nothing to send yet; mean over GPUs
  int passes = 1;    ///< per step
  /// From the start of the last pass to the end of its communication: a pass before it takes as long. None:
  /// the passes before only compute, like the one alone.
  std::optional<sim::Time> pass;
  train::MemoryNeed memory;
  gpu::PerActor<gpu::Traffic> traffic;  ///< of that GPU; as the next, the links and their bytes not known of
                                        ///< a composed step
  gpu::PerActor<sim::Time> sm_time;     ///< the same
  sim::Bytes burst;                     ///< 0 means packet by packet
  Fidelity fidelity = Fidelity::kPacket;
  std::optional<double> fidelity_error;  ///< of the step, as measured for such steps; none if not known
  int simulated = 0;  ///< simulated GPUs; fewer than the job has if each represents several
  int sms = 0;        ///< most SMs that the collectives hold on each GPU
  std::uint64_t events = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t link_bytes = 0;             ///< data that left GPUs by their links, all together
  FabricUse links;                          ///< while a collective was on that GPU
  std::optional<sim::TraceRecorder> trace;  ///< if the job asks for one
  StepHistory history;                      ///< of that GPU; in full where the job has a trace

  double forward_slowdown() const { return forward.in_s() / alone.times.forward().in_s() - 1; }
  double slowdown() const { return backward.in_s() / alone.times.backward().in_s() - 1; }
  /// The same, counted only while a collective ran beside backward; 0 if none did.
  double slowdown_beside() const;
  /// All passes, forward and backward, but the last.
  sim::Time passes_before() const { return pass.value_or(alone.times.backward_ended) * (passes - 1); }
  /// Copies for communication, in all passes.
  sim::Time all_copied() const { return copied.step * (pass ? passes : 1); }
  /// All passes and the update of a GPU that does not communicate.
  sim::Time step_alone() const {
    return alone.times.backward_ended * (passes - 1) + alone.times.optimizer_ended;
  }
  /// Forward and backward of all passes.
  sim::Time all_forward() const { return forward + (pass ? forward : alone.times.forward()) * (passes - 1); }
  sim::Time all_backward() const {
    return backward + (pass ? backward : alone.times.backward()) * (passes - 1);
  }
  sim::Time step() const { return end + passes_before(); }
  /// What belongs to no phase: before the first kernel (for weights, for the stage before) and between
  /// passes.
  sim::Time between_phases() const { return step() - all_forward() - all_backward() - exposed - optimizer; }
};

/// What is shared, as the machine takes it.
gpu::CoreOptions core_options(const StepJob& job);

/// Fails if the step does not fit the GPU's memory, or if the collectives cannot be run as asked.
sim::Result<StepResult> run(const StepJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
