// Builds one GPU and a list of kernels, runs it, and reads the counters.
#include "study/kernel/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "sim/check.h"
#include "sim/event_queue.h"
#include "study/collective/engine_copy.h"
#include "study/kernel/kernel_build.h"

namespace infold::study {

namespace {

/// Workgroups that each own an SM and stay until they are told to leave.
class Squatter final : public gpu::Work {
 public:
  explicit Squatter(gpu::Core& core) : core_(core) {}
  void begin(gpu::KernelId id, int) override { id_ = id; }
  void start(int, int sm) override { sms_.push_back(sm); }
  void finished(int) override {}
  void leave() {
    for (const int sm : sms_) core_.dispatcher().workgroup_done(id_, sm);
    sms_.clear();
  }

 private:
  gpu::Core& core_;
  gpu::KernelId id_ = 0;
  std::vector<int> sms_;
};

class Run final : public sim::Handler {
 public:
  explicit Run(const KernelJob& job)
      : job_(job),
        core_(*job.gpu, events_, {.contention = job.contention, .reserved_sms = job.sms_reserved}),
        squatter_(core_) {}

  sim::Result<KernelResult> run(const KeepGoing& keep_going) {
    if (job_.sms_taken > 0) take_sms();
    KernelPlan plan = build(job_, core_);
    // Benchmarks repeat a kernel on the same data, so what is left of it in L2 matters where it nearly fits.
    const bool warm = plan.bytes <= job_.gpu->l2.capacity * 2;
    for (int iteration = warm ? 0 : 1; iteration < 2; ++iteration) {
      const Mark mark = now();
      start(plan);
      while (!finished_) {
        if (keep_going && !keep_going(0)) return sim::interrupted();
        if (!events_.run(1 << 20) && !finished_) return sim::deadlock(core_.dispatcher().who_waits());
      }
      if (iteration == 1) read_counters(mark, plan);
    }
    squatter_.leave();
    events_.run();
    INFOLD_CHECK(core_.dispatcher().idle(), "after a kernel nothing is left to run");
    result_.events = events_.handled();
    return result_;
  }

 private:
  struct Mark {
    sim::Time time;
    gpu::Traffic traffic;
  };
  Mark now() { return {ended_, core_.memory().traffic().total()}; }

  void take_sms() {
    const gpu::Launch launch{.work = &squatter_,
                             .workgroups = job_.sms_taken,
                             .footprint = {.shared_memory = {}, .registers = {}, .whole_sm = true},
                             .actor = gpu::Actor::kCollective};
    core_.dispatcher().enqueue(core_.dispatcher().add_stream(1), launch, sim::Time{});
    events_.run();
    ended_ = events_.now();
  }

  void start(KernelPlan& plan) {
    finished_ = false;
    if (plan.copy) {
      engines_.start(*plan.copy);
      return;
    }
    const gpu::StreamId stream = core_.dispatcher().add_stream(0);
    const gpu::EventId done = core_.dispatcher().add_event();
    plan.list->enqueue(stream, events_.now());
    core_.dispatcher().record(stream, done);
    core_.dispatcher().notify(done, *this, 0);
  }

  void handle(std::uint32_t) override {
    finished_ = true;
    ended_ = events_.now();
  }

  void read_counters(const Mark& before, const KernelPlan& plan) {
    const Mark after = now();
    result_.time = after.time - before.time;
    result_.l2_read_bytes = after.traffic.l2_read - before.traffic.l2_read;
    result_.l2_bytes = result_.l2_read_bytes + after.traffic.l2_written - before.traffic.l2_written;
    result_.hbm_read_bytes = after.traffic.hbm_read - before.traffic.hbm_read;
    result_.hbm_bytes = result_.hbm_read_bytes + after.traffic.hbm_written - before.traffic.hbm_written;
    result_.tile = plan.tile;
    if (!plan.list) return;
    result_.flops = plan.list->flops();
    result_.kernels = static_cast<int>(plan.list->size());
    result_.workgroups = (*plan.list)[0].grid();
    result_.waves = (*plan.list)[0].waves();
  }

  const KernelJob& job_;
  sim::EventQueue events_;
  gpu::Core core_;
  Squatter squatter_;
  EngineCopy engines_{core_, *this, 0};
  bool finished_ = false;
  sim::Time ended_;
  KernelResult result_;
};

}  // namespace

sim::Result<KernelResult> run(const KernelJob& job, const KeepGoing& keep_going) {
  if (auto checked = check_kernel(job); !checked) return sim::fail_as(std::move(checked));
  return Run(job).run(keep_going);
}

}  // namespace infold::study
