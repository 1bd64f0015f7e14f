// Streams of kernels, and which workgroup gets which SM.
//
// - A stream runs its kernels one after the other, with a gap between them. It can record events and wait for
//   events of other streams.
// - Kernels that are ready get SMs in order of the priority of their streams. Kernels of equal priority take
//   turns, workgroup by workgroup.
// - A workgroup stays until it is done. There is no preemption.
// - A workgroup that needs a whole SM would starve if smaller ones refilled every half-empty SM. So SMs are
//   claimed for it: no other workgroup is placed on them until it has had its turn. Claims wait for higher
//   priorities.
// - A kernel whose workgroups must all be resident together starts when there is room for all of them.
//   Kernels behind it wait meanwhile, because otherwise it might wait forever.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/launch.h"
#include "gpu/sm/sm.h"
#include "gpu/sm/stream.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

class Dispatcher final : public sim::Handler {
 public:
  /// `reserved` SMs take workgroups of collectives only; requires reserved < spec.sms.
  Dispatcher(const GpuSpec& spec, sim::EventQueue& events, const Contention& contention, int reserved = 0);

  /// A larger number is a higher priority.
  StreamId add_stream(int priority);
  /// The kernel runs when the stream reaches it, and not before `host_time`, the time of its enqueueing.
  /// Requires: a workgroup fits an empty SM; a grid that must be resident together fits the GPU.
  KernelId enqueue(StreamId stream, const Launch& launch, sim::Time host_time);
  EventId add_event() { return events_of_streams_.add(); }
  void record(StreamId stream, EventId event);
  void wait(StreamId stream, EventId event);
  /// `handler` is called when the event has been recorded.
  void notify(EventId event, sim::Handler& handler, std::uint32_t arg);

  void workgroup_done(KernelId kernel, int sm);
  /// The same for a launch without workgroups, which takes no SM because an engine does the work.
  void engine_done(KernelId kernel) { complete(kernel); }

  /// Sets the state as if kernels of compute had run here as they have on `twin`. Requires: both were built
  /// alike, and no kernel is running on either.
  void copy_compute_of(const Dispatcher& twin);

  Sm& sm(int i) { return sms_[static_cast<std::size_t>(i)]; }
  /// The number of SMs that workgroups of this actor may use.
  int usable_sms(Actor actor) const { return actor == Actor::kCollective ? count_ : count_ - reserved_; }
  /// The time that workgroups were resident, times the share of the threads of an SM that each of them had.
  const PerActor<sim::Time>& sm_time() const { return sm_time_; }
  /// The same for one actor up to this moment, also between two changes.
  sim::Time sm_time_until(Actor actor, sim::Time now) const {
    const Resident& r = resident_[index_of(actor)];
    return sm_time_[actor] + (now - r.since) * r.threads / spec_.sm.threads;
  }
  /// Whether all streams have run everything that was enqueued.
  bool idle() const;
  /// What each unfinished stream waits for, one line per stream.
  std::vector<std::string> who_waits() const;

 private:
  struct Kernel {
    Launch launch;
    StreamId stream = 0;
    int priority = 0;
    int total = 0;    // workgroups that will run
    int started = 0;  // how many of those have started
    int running = 0;
    int peak = 0;
    bool begun = false;
  };

  struct Resident {
    sim::Time since;  // time of the last change
    std::int64_t threads = 0;
  };

  void handle(std::uint32_t kernel) override;
  void account(const Launch& launch, int workgroups);
  void advance(StreamId stream);
  void begin_if_together(std::size_t position);
  void update_claims();
  void fill_all();
  void fill(int sm);
  bool place_one(int sm);
  void place(std::size_t position, int sm);
  void complete(KernelId id);
  int first_sm(Actor actor) const;
  bool usable(Actor actor, int sm) const;
  int room_now(const Kernel& k) const;
  int room_beside_collectives(const Kernel& k) const;

  const GpuSpec& spec_;
  sim::EventQueue& queue_;
  int count_;     // number of SMs
  int reserved_;  // how many of those are reserved
  bool shared_;   // all actors use the same SMs
  std::vector<Sm> sms_;
  sim::StablePool<Kernel, KernelId> kernels_;
  std::vector<KernelId> ready_;  // kernels with workgroups left to start, in the order of service
  std::vector<Stream> streams_;
  StreamEvents events_of_streams_;
  int waiting_together_ = 0;  // kernels in ready_ that must be resident together and have not begun
  std::array<Resident, kActors> resident_{};
  PerActor<sim::Time> sm_time_;
};

}  // namespace infold::gpu
