// Runs kernels alone, collectives alone, and both; each again and again on its own stream, so that what is
// timed runs beside the other from its start to its end.
#include "study/beside_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>

#include "coll/execution.h"
#include "gpu/machine.h"
#include "sim/check.h"
#include "study/kernel_build.h"

namespace infold::study {

namespace {

constexpr std::uint64_t kBatch = 1 << 16;  // events between two looks at the user
constexpr int kMostKernels = 64;
constexpr int kMostCollectives = 256;

/// One GPU's kernels, back to back. The first one finds cold caches and is not counted.
class Kernels final : public sim::Handler {
 public:
  Kernels(const KernelJob& job, gpu::Core& core)
      : core_(core), plan_(build(job, core)), stream_(core.dispatcher().add_stream(0)) {}

  void enqueue(int times) {
    for (int i = 0; i < times; ++i) {
      plan_.list->enqueue(stream_, core_.events().now());
      const gpu::EventId ended = core_.dispatcher().add_event();
      core_.dispatcher().record(stream_, ended);
      core_.dispatcher().notify(ended, *this, 0);
    }
    left_ = times;
  }
  bool done() const { return left_ == 0; }
  /// Mean of one. Requires: done, and two or more were enqueued.
  sim::Time time() const {
    return (ends_.back() - ends_.front()) / static_cast<std::int64_t>(ends_.size() - 1);
  }
  sim::Time ended() const { return ends_.back(); }
  std::size_t kernels() const { return plan_.list->size(); }

 private:
  void handle(std::uint32_t) override {
    ends_.push_back(core_.events().now());
    --left_;
  }

  gpu::Core& core_;
  KernelPlan plan_;
  gpu::StreamId stream_;
  int left_ = 0;
  std::vector<sim::Time> ends_;
};

/// Collectives, back to back until told to stop.
class Collectives {
 public:
  Collectives(gpu::Machine& machine, const coll::Program& program, const CollectiveJob& job)
      : machine_(machine),
        program_(program),
        host_enqueue_(job.system->machine.gpu.host_enqueue),
        gpus_(static_cast<std::size_t>(job.gpus)) {
    std::iota(gpus_.begin(), gpus_.end(), 0);
    buffers_ = std::make_unique<coll::Buffers>(machine, gpus_, coll::buffers_for(program));
  }

  void start(int most) {
    most_ = most;
    for (int rank = 0; rank < program_.ranks; ++rank) enqueue(0, rank, sim::Time{});
  }
  /// What is under way goes on to its end.
  void stop() { stopped_ = true; }
  bool done() const { return !executions_.empty() && executions_.back()->done(); }
  /// The mean of those that ended by then, of the first if none did, and how many they were.
  std::pair<sim::Time, int> time_until(sim::Time end) const {
    sim::Time last;
    int count = 0;
    for (; count < static_cast<int>(ends_.size()) && ends_[static_cast<std::size_t>(count)] <= end; ++count)
      last = ends_[static_cast<std::size_t>(count)];
    if (count == 0) return {ends_.front(), 1};
    return {last / count, count};
  }
  std::vector<std::string> who_waits() const {
    return executions_.empty() ? std::vector<std::string>{} : executions_.back()->who_waits();
  }

 private:
  void enqueue(std::size_t iteration, int rank, sim::Time at) {
    if (executions_.size() == iteration) {
      coll::Execution::Options options;
      options.buffers = buffers_.get();
      options.rank_done = [this, iteration](int r, sim::Time t) { rank_done(iteration, r, t); };
      executions_.push_back(std::make_unique<coll::Execution>(machine_, program_, gpus_, std::move(options)));
    }
    executions_[iteration]->enqueue(rank, at);
  }
  /// All ranks must run the same number, so whether there is a next one is settled by the first to ask.
  void rank_done(std::size_t iteration, int rank, sim::Time at) {
    if (executions_[iteration]->done()) ends_.push_back(at);
    const bool exists = executions_.size() > iteration + 1;
    if (!exists && (stopped_ || static_cast<int>(iteration) + 1 >= most_)) return;
    enqueue(iteration + 1, rank, sim::max(at, host_enqueue_ * static_cast<std::int64_t>(iteration + 1)));
  }

  gpu::Machine& machine_;
  const coll::Program& program_;
  sim::Time host_enqueue_;
  std::vector<int> gpus_;
  std::unique_ptr<coll::Buffers> buffers_;
  std::vector<std::unique_ptr<coll::Execution>> executions_;
  std::vector<sim::Time> ends_;
  int most_ = 1;
  bool stopped_ = false;
};

/// Why a run did not come to its end.
struct Stopped {
  bool interrupted = false;
  std::vector<std::string> waiting;  // for one another, otherwise
};
BesideOutcome outcome_of(Stopped stopped) {
  if (stopped.interrupted) return Interrupted{};
  return Deadlock{std::move(stopped.waiting)};
}

/// A machine with both on it, or one of them.
class Scene {
 public:
  Scene(const BesideJob& job, const coll::Program& program, sim::Bytes burst)
      : machine_(job.collective.system->machine, {.burst = burst, .functional = false, .core = job.core}),
        collectives_(machine_, program, job.collective) {
    for (int g = 0; g < job.collective.gpus; ++g)
      kernels_.push_back(std::make_unique<Kernels>(job.kernel, machine_.gpu(g).core()));
  }

  /// Either number may be 0. Collectives go on as long as there are kernels.
  std::optional<Stopped> run(int kernels, int collectives, const KeepGoing& keep_going) {
    if (collectives > 0) collectives_.start(collectives);
    if (kernels > 0) {
      for (auto& k : kernels_) k->enqueue(kernels);
    }
    const auto kernels_done = [&] {
      return std::all_of(kernels_.begin(), kernels_.end(), [](const auto& k) { return k->done(); });
    };
    while (machine_.events().run(kBatch)) {
      if (keep_going && !keep_going(0)) return Stopped{.interrupted = true, .waiting = {}};
      if (kernels > 0 && kernels_done()) collectives_.stop();
    }
    if (!kernels_done() || (collectives > 0 && !collectives_.done()))
      return Stopped{.interrupted = false, .waiting = who_waits()};
    INFOLD_CHECK(machine_.quiet(), "after the run nothing is in flight and all credits are home");
    return std::nullopt;
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
  const Collectives& collectives() const { return collectives_; }
  gpu::Core& core() { return machine_.gpu(0).core(); }

 private:
  std::vector<std::string> who_waits() {
    std::vector<std::string> lines = collectives_.who_waits();
    for (auto& line : machine_.network().who_waits()) lines.push_back(std::move(line));
    for (auto& line : core().dispatcher().who_waits()) lines.push_back("gpu0 " + line);
    return lines;
  }

  gpu::Machine machine_;
  Collectives collectives_;
  std::vector<std::unique_ptr<Kernels>> kernels_;
};

std::optional<std::string> refuse(const BesideJob& job) {
  if (auto why = refuse(job.kernel)) return why;
  if (auto why = refuse(job.collective)) return why;
  if (const auto* copy = std::get_if<CopyKernel>(&job.kernel.kernel);
      copy != nullptr && copy->by == CopyBy::kDma)
    return "a copy by engines is not timed beside a collective; use --engine sm";
  const int sms = job.collective.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return fmt::format("{} of {} SMs can not be reserved: one must be left", job.core.reserved_sms, sms);
  return std::nullopt;
}

/// So many of the one as take as long as two of the other.
int times_to_cover(sim::Time one, sim::Time other, int most) {
  const double times = 2 * other.in_s() / std::max(one.in_s(), 1e-12);
  return static_cast<int>(std::clamp(std::ceil(times), 1.0, static_cast<double>(most)));
}

}  // namespace

BesideOutcome run(const BesideJob& job, const KeepGoing& keep_going) {
  if (auto why = refuse(job)) return JobRefused{std::move(*why)};
  const coll::Program program = program_of(job.collective);
  const sim::Bytes burst = job.collective.burst.automatic ? sim::Bytes::kib(4) : job.collective.burst.bytes;
  BesideResult r;
  r.sms = program.channels;

  Scene only_collective(job, program, burst);
  if (auto failed = only_collective.run(0, 2, keep_going)) return outcome_of(*failed);
  const sim::Time one_collective = only_collective.collectives().time_until(sim::Time::never()).first;
  Scene first_look(job, program, burst);
  if (auto failed = first_look.run(2, 0, keep_going)) return outcome_of(*failed);

  // Beside each other for as long as two of the longer one, and one kernel to begin with.
  const int kernels = 1 + times_to_cover(first_look.kernel_time(), one_collective, kMostKernels);
  Scene both(job, program, burst);
  if (auto failed = both.run(kernels, kMostCollectives, keep_going)) return outcome_of(*failed);
  r.kernel = both.kernel_time();
  r.kernels = kernels - 1;
  std::tie(r.collective, r.collectives) = both.collectives().time_until(both.kernels_ended());
  r.traffic = both.core().memory().traffic();
  r.sm_time = both.core().dispatcher().sm_time();

  // As many alone, so that nothing else differs.
  Scene alone(job, program, burst);
  if (auto failed = alone.run(kernels, 0, keep_going)) return outcome_of(*failed);
  r.kernel_alone = alone.kernel_time();
  Scene collectives_alone(job, program, burst);
  if (auto failed = collectives_alone.run(0, r.collectives, keep_going)) return outcome_of(*failed);
  r.collective_alone = collectives_alone.collectives().time_until(sim::Time::never()).first;
  return r;
}

}  // namespace infold::study
