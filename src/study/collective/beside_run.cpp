// Runs kernels alone, collectives alone, and both. Each runs again and again on its own stream, so that what
// is timed runs beside the other from its start to its end.
#include "study/collective/beside_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>

#include "gpu/machine.h"
#include "sim/check.h"
#include "study/collective/collective_loop.h"
#include "study/collective/engine_copy.h"
#include "study/kernel/kernel_build.h"

namespace infold::study {

namespace {

constexpr std::uint64_t kEventsBetweenLooks = 1 << 16;  // events between two calls of keep_going
constexpr int kMostKernels = 64;
constexpr int kMostCollectives = 256;

/// The kernels of one GPU, back to back. The first one finds cold caches and is not counted.
class Kernels final : public sim::Handler {
 public:
  Kernels(const KernelJob& job, gpu::Core& core)
      : core_(core), plan_(build(job, core)), stream_(core.dispatcher().add_stream(0)) {}

  void enqueue(int times) {
    left_ = times;
    if (plan_.copy) return copy_.start(*plan_.copy);
    for (int i = 0; i < times; ++i) {
      plan_.list->enqueue(stream_, core_.events().now());
      const gpu::EventId ended = core_.dispatcher().add_event();
      core_.dispatcher().record(stream_, ended);
      core_.dispatcher().notify(ended, *this, 0);
    }
  }
  bool done() const { return left_ == 0; }
  /// The mean time of one kernel. Requires: done, and two or more were enqueued.
  sim::Time time() const {
    return (ends_.back() - ends_.front()) / static_cast<std::int64_t>(ends_.size() - 1);
  }
  sim::Time ended() const { return ends_.back(); }

 private:
  void handle(std::uint32_t) override {
    ends_.push_back(core_.events().now());
    if (--left_ > 0 && plan_.copy) copy_.start(*plan_.copy);
  }

  gpu::Core& core_;
  KernelPlan plan_;
  gpu::StreamId stream_;
  EngineCopy copy_{core_, *this, 0};
  int left_ = 0;
  std::vector<sim::Time> ends_;
};

/// The mean of the iterations that ended by `end`, or the first one if none did, and how many they were.
std::pair<sim::Time, int> time_until(const std::vector<sim::Time>& ends, sim::Time end) {
  const auto count = std::upper_bound(ends.begin(), ends.end(), end) - ends.begin();
  if (count == 0) return {ends.front(), 1};
  return {ends[static_cast<std::size_t>(count - 1)] / count, static_cast<int>(count)};
}

/// A machine with kernels, collectives or both on it.
class Scene {
 public:
  Scene(const BesideJob& job, const coll::Program& program, sim::Bytes burst)
      : collective_(job.collective),
        program_(program),
        machine_(
            job.collective.system->plan(),
            {.burst = burst, .functional = false, .in_network = program.in_network(), .core = job.core}) {
    for (int g = 0; g < job.collective.gpus; ++g)
      kernels_.push_back(std::make_unique<Kernels>(job.kernel, machine_.gpu(g).core()));
  }

  /// Either number may be 0. Collectives are repeated as long as there are kernels.
  sim::Status run(int kernels, int collectives, const KeepGoing& keep_going) {
    if (collectives > 0) {
      collective_.iterations = collectives;
      std::vector<int> gpus(static_cast<std::size_t>(collective_.gpus));
      std::iota(gpus.begin(), gpus.end(), 0);
      collectives_ =
          std::make_unique<CollectiveLoop>(collective_, machine_, program_, std::move(gpus), /*seed=*/1);
    }
    if (kernels > 0) {
      for (auto& k : kernels_) k->enqueue(kernels);
    }
    const auto kernels_done = [&] {
      return std::all_of(kernels_.begin(), kernels_.end(), [](const auto& k) { return k->done(); });
    };
    while (machine_.events().run(kEventsBetweenLooks)) {
      if (keep_going && !keep_going(0)) return sim::interrupted();
      if (kernels > 0 && collectives > 0 && kernels_done()) collectives_->stop();
    }
    if (!kernels_done() || (collectives > 0 && !collectives_->done())) return sim::deadlock(who_waits());
    INFOLD_CHECK(machine_.quiet(), "after the run nothing is in flight and all credits are home");
    return {};
  }

  sim::Time kernel_time() const {
    sim::Time most;
    for (const auto& k : kernels_) most = sim::max(most, k->time());
    return most;
  }
  sim::Time kernels_ended() const {
    sim::Time last;
    for (const auto& k : kernels_) last = sim::max(last, k->ended());
    return last;
  }
  /// The mean time of the collectives that ended by `until`, and their number. Requires: there were some.
  std::pair<sim::Time, int> collective_time(sim::Time until = sim::Time::never()) const {
    return time_until(collectives_->ends(), until);
  }
  gpu::Core& core() { return machine_.gpu(0).core(); }

 private:
  std::vector<std::string> who_waits() {
    std::vector<std::string> lines;
    if (collectives_) lines = collectives_->who_waits();
    for (auto& line : machine_.network().who_waits()) lines.push_back(std::move(line));
    for (auto& line : core().dispatcher().who_waits()) lines.push_back("gpu0 " + line);
    return lines;
  }

  CollectiveJob collective_;
  const coll::Program& program_;
  gpu::Machine machine_;
  std::unique_ptr<CollectiveLoop> collectives_;  // null if none were asked for
  std::vector<std::unique_ptr<Kernels>> kernels_;
};

/// Prepares the collective, unless it or the kernel cannot be run as asked.
sim::Result<PreparedJob> prepare(const BesideJob& job) {
  if (auto kernel = check_kernel(job.kernel); !kernel) return sim::fail_as(std::move(kernel));
  auto prepared = prepare(job.collective);
  if (!prepared) return prepared;
  const int sms = job.collective.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return sim::fail(
        fmt::format("{} of {} SMs cannot be reserved: one must be left", job.core.reserved_sms, sms));
  return prepared;
}

/// How many of the one take as long as two of the other.
int times_to_cover(sim::Time one, sim::Time other, int most) {
  const double times = 2 * other.in_s() / std::max(one.in_s(), 1e-12);
  return static_cast<int>(std::clamp(std::ceil(times), 1.0, static_cast<double>(most)));
}

}  // namespace

sim::Result<BesideResult> run(const BesideJob& job, const KeepGoing& keep_going) {
  auto prepared = prepare(job);
  if (!prepared) return sim::fail_as(std::move(prepared));
  const coll::Program& program = prepared->program();
  const sim::Bytes burst = job.collective.burst.automatic ? kAutoBurst : job.collective.burst.bytes;
  BesideResult r;
  r.sms = program.sms();

  Scene only_collective(job, program, burst);
  if (auto ran = only_collective.run(0, 2, keep_going); !ran) return sim::fail_as(std::move(ran));
  const sim::Time one_collective = only_collective.collective_time().first;
  Scene first_look(job, program, burst);
  if (auto ran = first_look.run(2, 0, keep_going); !ran) return sim::fail_as(std::move(ran));

  // Both run beside each other for as long as two of the longer one take, after one kernel that comes first.
  const int kernels = 1 + times_to_cover(first_look.kernel_time(), one_collective, kMostKernels);
  Scene both(job, program, burst);
  if (auto ran = both.run(kernels, kMostCollectives, keep_going); !ran) return sim::fail_as(std::move(ran));
  r.kernel = both.kernel_time();
  r.kernels = kernels - 1;
  std::tie(r.collective, r.collectives) = both.collective_time(both.kernels_ended());
  r.traffic = both.core().memory().traffic();
  r.sm_time = both.core().dispatcher().sm_time();

  // As many kernels run alone, so that nothing else differs.
  Scene alone(job, program, burst);
  if (auto ran = alone.run(kernels, 0, keep_going); !ran) return sim::fail_as(std::move(ran));
  r.kernel_alone = alone.kernel_time();
  Scene collectives_alone(job, program, burst);
  if (auto ran = collectives_alone.run(0, r.collectives, keep_going); !ran)
    return sim::fail_as(std::move(ran));
  r.collective_alone = collectives_alone.collective_time().first;
  return r;
}

}  // namespace infold::study
