// Compiles each offer and asks the estimator for its time.
#include "study/collective/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "coll/tune/engine_tuning.h"
#include "coll/tune/estimate.h"
#include "sim/check.h"

namespace infold::study {

namespace {

/// Protocols with small chunks make long programs. In a message of many windows each window takes as long as
/// the one before, so beyond this size the estimate is extrapolated from two sizes.
constexpr sim::Bytes kLongEnough = sim::Bytes::mib(64);

/// A program with more steps takes too long to estimate, and is not the fastest.
constexpr std::int64_t kTooManySteps = 5'000'000;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Estimates err by up to 29 % where latency and bandwidth both count (docs/collectives.md), so an offer
/// whose estimate is up to this many times the least may be the fastest.
constexpr double kDoubt = 1.3;

/// The number of packets over links that a trial may cost: some two seconds if they are simulated one by one.
constexpr std::int64_t kMostTrialHops = 20'000'000;

/// A rough count for any algorithm: each rank sends its data twice, over two links, and gets
/// acknowledgements.
std::int64_t about_packet_hops(const CollectiveJob& job) {
  return job.bytes.count() / job.system->machine.fabric.packet.payload.count() * job.gpus * 8;
}

class Guess {
 public:
  Guess(const CollectiveJob& job, std::function<bool()> keep_going)
      : job_(job),
        estimator_(job.system->machine, job.system->plan().node(), job.system->plan().routes()),
        gpus_(static_cast<std::size_t>(job.gpus / job.groups)),
        keep_going_(std::move(keep_going)) {
    std::iota(gpus_.begin(), gpus_.end(), 0);
    if (!job.members.empty()) gpus_ = job.members;
  }

  /// A time that is not less than `limit` may be returned as never.
  double time_us(const Choice& choice, double limit_us) const {
    if (choice.protocol == coll::Protocol::kSimple || job_.bytes <= kLongEnough)
      return time_of(choice, job_.bytes, limit_us);
    const sim::Bytes step = coll::size_of(job_.type) * job_.gpus;
    const auto whole = [&](sim::Bytes n) { return step * (n.count() / step.count()); };
    const sim::Bytes half = whole(kLongEnough / 2);
    const sim::Bytes full = whole(kLongEnough);
    const double slope =
        (time_of(choice, full) - time_of(choice, half)) / static_cast<double>((full - half).count());
    return time_of(choice, full) + slope * static_cast<double>((job_.bytes - full).count());
  }

 private:
  double time_of(const Choice& choice, sim::Bytes bytes, double limit_us = kNever) const {
    const coll::Request request{
        .collective = job_.collective,
        .bytes = bytes,
        .gpus = gpus_,
        .fabric = &job_.system->plan().blueprint(),
        .tuning = coll::tuning_for(job_.system->coll, choice.protocol, job_.engine, job_.system->machine.gpu),
        .root = job_.root,
        .engine = job_.engine,
        .go_on = &keep_going_};
    if (coll::most_steps(*choice.algorithm, request) > kTooManySteps) return kNever;
    const coll::Program program = coll::compile_on(*choice.algorithm, request, job_.system->machine.gpu);
    if (sim::asked_to_stop(keep_going_)) return kNever;
    if (!coll::check_engine(program, job_.system->machine.gpu)) return kNever;
    const sim::Time limit =
        limit_us < kNever ? sim::Time::ps(static_cast<std::int64_t>(limit_us * 1e6) + 1) : sim::Time::never();
    const sim::Time time = estimator_.time(program, gpus_, limit, keep_going_);
    return time == sim::Time::never() ? kNever : time.in_us();
  }

  const CollectiveJob& job_;
  coll::Estimator estimator_;
  std::vector<int> gpus_;
  std::function<bool()> keep_going_;
};

}  // namespace

std::vector<Choice> offers(const CollectiveJob& job, std::span<const coll::Algorithm* const> algorithms,
                           std::span<const coll::Protocol> protocols) {
  std::vector<Choice> all;
  for (const coll::Algorithm* a : algorithms) {
    if (!a->offers(job.collective)) continue;
    for (const coll::Protocol p : protocols) {
      // Only threads can poll for flags inside data, and only a fence makes stores into outputs safe.
      if (p == coll::Protocol::kSimple ||
          (!a->needs_simple(job.collective) && job.engine == coll::Engine::kSm))
        all.push_back({a, p});
    }
  }
  return all;
}

std::vector<Choice> offers_of(const CollectiveJob& job, const coll::Algorithm* algorithm,
                              std::optional<coll::Protocol> protocol) {
  if (job.program != nullptr)
    return {Choice{nullptr, protocol.value_or(job.program->program.tuning.protocol), job.program}};
  std::vector<const coll::Algorithm*> algorithms = {algorithm};
  if (algorithm == nullptr) {
    algorithms.clear();
    // Estimates know links, not reduction tables, so algorithms that need switches that reduce must be asked
    // for by name.
    for (const auto& a : coll::algorithms()) {
      if (!a.in_network) algorithms.push_back(&a);
    }
  }
  std::vector<coll::Protocol> protocols;
  for (const auto& p : coll::kProtocolNames) {
    if (!protocol || *protocol == p.value) protocols.push_back(p.value);
  }
  return offers(job, algorithms, protocols);
}

std::string why_no_offers(const CollectiveJob& job, std::optional<coll::Protocol> protocol) {
  const coll::Protocol asked = protocol.value_or(coll::Protocol::kSimple);
  if (auto ok = coll::check_protocol(job.engine, asked); !ok) return ok.error().message;
  return fmt::format("no algorithm offers {} with protocol {}", sim::name_of(job.collective),
                     sim::name_of(asked));
}

Choice choose(const CollectiveJob& job, std::span<const Choice> offers,
              const std::function<bool()>& keep_going, const Trial& trial) {
  INFOLD_CHECK(!offers.empty(), "there is something to choose from");
  if (offers.size() == 1) return offers.front();
  const Guess guess(job, keep_going);
  const double doubt = trial ? kDoubt : 1.0;
  std::vector<double> times;
  double least = kNever;
  for (const Choice& offer : offers) {
    const bool stop = !times.empty() && keep_going && !keep_going();
    times.push_back(stop ? kNever : guess.time_us(offer, least * doubt));
    least = std::min(least, times.back());
  }
  const auto best = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
  if (std::ranges::count_if(times, [&](double t) { return t <= least * doubt; }) == 1 || !trial)
    return offers[best];
  Choice fastest = offers[best];
  sim::Time fastest_time = trial(fastest);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (i == best || times[i] > least * doubt) continue;
    const sim::Time time = trial(offers[i]);
    if (time >= fastest_time) continue;
    fastest_time = time;
    fastest = offers[i];
  }
  return fastest;
}

Trial simulated(const CollectiveJob& job, std::function<bool()> keep_going) {
  if (about_packet_hops(job) > kMostTrialHops) return {};
  return [&job, keep_going = std::move(keep_going)](const Choice& choice) {
    CollectiveJob once = job;
    once.algorithm = choice.algorithm;
    once.protocol = choice.protocol;
    once.iterations = 1;
    once.check = false;
    once.burst = {};
    once.delays.clear();
    once.trace.reset();
    once.fault.reset();
    const auto outcome = run(once, [&](double) { return !keep_going || keep_going(); });
    return outcome ? outcome->time : sim::Time::never();
  };
}

double estimate_us(const CollectiveJob& job, const Choice& choice) {
  return Guess(job, {}).time_us(choice, kNever);
}

Choice TuningTable::at(sim::Bytes bytes) const {
  for (const Row& row : rows) {
    if (bytes <= row.up_to) return row.choice;
  }
  return rows.back().choice;
}

void TuningTable::add(sim::Bytes bytes, const Choice& best) {
  if (!rows.empty() && rows.back().choice == best) {
    rows.back().up_to = bytes;
  } else {
    rows.push_back({bytes, best});
  }
}

sim::Status TuningTable::check(const CollectiveJob& job) const {
  if (collective == job.collective && system == job.system->name && gpus == job.gpus) return {};
  return sim::fail(fmt::format("it was made for {} on {} GPUs of {}, not for {} on {} of {}",
                               sim::name_of(collective), gpus, system, sim::name_of(job.collective), job.gpus,
                               job.system->name));
}

}  // namespace infold::study
