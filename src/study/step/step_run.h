// One training step on several GPUs: kernels and collectives on one machine, and what each costs the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/memory/memory_system.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/core.h"
#include "sim/result.h"
#include "study/collective/choice.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "study/step/step_times.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/recipe.h"
#include "train/strategy/sync_spec.h"

namespace infold::study {

/// Where every GPU does the same, four can stand for all.
enum class Fold : std::uint8_t { kAuto, kOn, kOff };
inline constexpr std::array kFoldNames = {
    sim::Named{Fold::kAuto, "auto", "in large steps, unless packets are simulated one by one"},
    sim::Named{Fold::kOn, "on", "wherever it can be done"},
    sim::Named{Fold::kOff, "off", "every GPU is simulated"},
};
constexpr std::span<const sim::Named<Fold>> names_of(Fold) {
  return kFoldNames;
}

struct StepJob {
  SystemPtr system;
  int gpus = 0;  ///< the first so many of the system's, two or more
  const train::Graph* graph = nullptr;
  train::Recipe recipe;
  bool ignore_memory = false;
  train::SyncSpec sync;
  Method method;
  std::optional<coll::Protocol> protocol;  ///< none: chosen for each bucket
  bool overlap = true;                     ///< false: nothing is reduced before backward has ended
  gpu::CoreOptions core{};                 ///< what is shared, reserved SMs, the collectives' priority
  BurstChoice burst;
  std::vector<sim::Time> delays = {};  ///< by which each GPU begins the step late; empty: none
  /// GPUs that are in step are simulated once, until the first collective tells them apart. The result is the
  /// same without it.
  bool together = true;
  Fold fold = Fold::kAuto;
  std::optional<sim::TraceSpec> trace = {};  ///< none: nothing is recorded
};

/// One bucket's way, each time that of the last GPU.
struct BucketResult {
  sim::Bytes bytes;
  std::int64_t elements = 0;
  Choice choice;
  sim::Time ready;  ///< all of its gradients are there
  sim::Time start;  ///< those before it have ended
  sim::Time end;
};

/// The same step on one GPU that reduces nothing, copies into buckets included.
struct AloneResult {
  StepTimes times;
  std::uint64_t events = 0;
};

struct StepResult {
  sim::Time forward;   ///< of the GPU with the longest backward, as are the next two
  sim::Time backward;  ///< first gradient kernel's start to the last one's end
  sim::Time optimizer;
  sim::Time exposed;  ///< from the last GPU's end of backward to the last one's update, but for a launch
  sim::Time end;      ///< of the last GPU's update, counted from the start
  AloneResult alone;
  sim::Time communicating;              ///< while a collective was on that GPU
  sim::Time communicating_in_backward;  ///< of that, while backward ran
  std::vector<BucketResult> buckets;
  int passes = 1;  ///< a step; all but the last are like the one alone
  train::MemoryNeed memory;
  gpu::PerActor<gpu::Traffic> traffic;  ///< of that GPU
  gpu::PerActor<sim::Time> sm_time;     ///< the same
  sim::Bytes burst;                     ///< 0: packet by packet
  int simulated = 0;                    ///< GPUs; fewer than the job has where each stands for several
  int sms = 0;                          ///< that the collectives hold on each GPU, at most
  std::uint64_t events = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t link_bytes = 0;             ///< data that left GPUs by their links, all together
  FabricUse links;                          ///< while a collective was on that GPU
  std::optional<sim::TraceRecorder> trace;  ///< where the job asks for one

  double slowdown() const { return backward.in_s() / alone.times.backward().in_s() - 1; }
  /// The same, counted only while a collective ran beside backward; 0 if none did.
  double slowdown_beside() const;
  /// All passes, forward and backward, but the last.
  sim::Time passes_before() const { return alone.times.backward_ended * (passes - 1); }
  sim::Time step() const { return end + passes_before(); }
};

/// Refused: it does not fit the GPU's memory, or the collectives can not be run as asked.
sim::Result<StepResult> run(const StepJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
