// Every time is asked for by one job: a curve, a size, a choice of the library and a change of the machine.
// Jobs share nothing and run on several threads.
#include "study/doctor/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "study/collective/bench_run.h"
#include "study/step/many_steps.h"

namespace infold::study {

namespace {

constexpr double kCannotRun = std::numeric_limits<double>::infinity();
/// Points of a curve up to this size are no more than so many; larger ones cost little, because lines are
/// continued.
constexpr sim::Bytes kThinnedUpTo = sim::Bytes::mib(32);
constexpr std::size_t kMostPoints = 8;

struct Asked {
  CollectiveJob job;
  std::string what;
  double us = kCannotRun;
};

CollectiveJob job_of(const SystemPtr& system, const MeasuredCurve& curve, sim::Bytes bytes,
                     const Choice& choice, sim::Time late = {}) {
  CollectiveJob job;
  job.system = system;
  job.collective = curve.collective;
  job.type = curve.type;
  job.op = curve.op;
  job.root = curve.root;
  job.gpus = curve.gpus;
  job.bytes = whole_elements(curve.collective, curve.type, bytes, curve.gpus);
  job.algorithm = choice.algorithm;
  job.protocol = choice.protocol;
  job.burst.careful = false;
  if (late > sim::Time{}) {
    job.delays.assign(static_cast<std::size_t>(curve.gpus), sim::Time{});
    job.delays.back() = late;
  }
  return job;
}

/// Runs all jobs. One that cannot run as asked stays infinite.
sim::Status run_all_of(std::vector<Asked>& asked, const DoctorProgress& progress) {
  std::mutex telling;
  std::size_t done = 0;
  bool stopped = false;
  sim::Status broken;
  const auto go_on = [&](const std::string& what) {
    const std::lock_guard lock(telling);
    if (progress && !stopped)
      stopped = !progress(what, static_cast<double>(done) / static_cast<double>(asked.size()));
    return !stopped;
  };
  in_parallel(asked.size(), 0, [&](std::size_t i) {
    if (!go_on(asked[i].what)) return;
    auto outcome = run(asked[i].job, [&](double) { return go_on(asked[i].what); });
    const std::lock_guard lock(telling);
    ++done;
    if (outcome) {
      asked[i].us = outcome->time.in_us();
    } else if (outcome.error().kind == sim::Error::Kind::kDeadlock && broken) {
      broken = sim::fail_as(std::move(outcome));
    }
  });
  if (stopped) return sim::interrupted();
  return broken;
}

/// What the library can choose from: its own algorithms and no others.
std::vector<Choice> library_choices(const PreparedSystem& system, const MeasuredCurve& curve) {
  std::vector<const coll::Algorithm*> algorithms;
  for (const std::string_view name : {"ring", "tree", "nvls", "p2p"}) {
    const coll::Algorithm* found = coll::find_algorithm(name);
    const bool built = !found->in_network || (system.machine.inc.unit == inc::Unit::kNvls &&
                                              system.plan().in_network() && curve.gpus > 1);
    if (built) algorithms.push_back(found);
  }
  // The library sends point to point there, to all at once.
  if (curve.collective == coll::Collective::kAllToAll) algorithms = {coll::find_algorithm("direct")};
  std::vector<coll::Protocol> protocols;
  const bool pcie = system.machine.fabric.topology == net::Topology::kPcieTree;
  for (const auto& protocol : coll::kProtocolNames) {
    // NCCL needs NVLink for LL128, because PCIe may tear its lines apart.
    if (!(pcie && protocol.value == coll::Protocol::kLl128)) protocols.push_back(protocol.value);
  }
  CollectiveJob job;
  job.collective = curve.collective;
  return offers(job, algorithms, protocols);
}

/// Keeps points up to a size spread evenly over their order, and all above.
std::vector<MeasuredPoint> thinned(const std::vector<MeasuredPoint>& points) {
  const auto above = std::ranges::find_if(points, [](const auto& p) { return p.bytes > kThinnedUpTo; });
  const auto count = static_cast<std::size_t>(above - points.begin());
  std::vector<MeasuredPoint> kept;
  if (count <= kMostPoints) {
    kept.assign(points.begin(), above);
  } else {
    for (std::size_t i = 0; i < kMostPoints; ++i) kept.push_back(points[i * (count - 1) / (kMostPoints - 1)]);
  }
  kept.insert(kept.end(), above, points.end());
  return kept;
}

double continued(sim::Bytes full, sim::Bytes bytes, double half_us, double full_us) {
  const double slope = (full_us - half_us) / static_cast<double>((full - full / 2).count());
  return full_us + slope * static_cast<double>((bytes - full).count());
}

/// One time per point of a curve is asked for with a choice each, on a machine that may be changed.
class Question {
 public:
  Question(SystemPtr system, const MeasuredCurve& curve, std::string what, sim::Time late = {})
      : system_(std::move(system)), curve_(curve), what_(std::move(what)), late_(late) {}

  void ask(std::size_t point, const Choice& choice, std::vector<Asked>& asked) {
    const sim::Bytes bytes = curve_.points[point].bytes;
    const sim::Bytes largest = largest_simulated(choice, curve_.gpus);
    if (bytes <= largest) {
      used_.push_back({bytes, largest, add(bytes, choice, asked), 0});
    } else {
      const std::size_t half = add(largest / 2, choice, asked);
      used_.push_back({bytes, largest, half, add(largest, choice, asked)});
    }
  }
  /// In the order in which points were asked for.
  Times answers(const std::vector<Asked>& asked) const {
    Times times;
    for (const Use& use : used_) {
      const double us = asked[use.first].us;
      times.push_back(use.bytes <= use.largest ? us
                                               : continued(use.largest, use.bytes, us, asked[use.second].us));
    }
    return times;
  }

 private:
  struct Use {
    sim::Bytes bytes;
    sim::Bytes largest;
    std::size_t first;
    std::size_t second;  ///< the larger of two sizes that a line is continued from
  };
  std::size_t add(sim::Bytes bytes, const Choice& choice, std::vector<Asked>& asked) {
    const auto found = std::ranges::find_if(
        made_, [&](const auto& made) { return made.bytes == bytes && made.choice == choice; });
    if (found != made_.end()) return found->at;
    made_.push_back({bytes, choice, asked.size()});
    asked.push_back({job_of(system_, curve_, bytes, choice, late_), what_});
    return asked.size() - 1;
  }

  struct Made {
    sim::Bytes bytes;
    Choice choice;
    std::size_t at;
  };
  SystemPtr system_;
  const MeasuredCurve& curve_;
  std::string what_;
  sim::Time late_;
  std::vector<Made> made_;
  std::vector<Use> used_;
};

bool leaves(const CauseVariant& variant, const Choice& choice) {
  if (!variant.only.empty() && choice.algorithm->name != variant.only) return false;
  if (choice.algorithm->name == variant.never) return false;
  return !variant.protocol || choice.protocol == *variant.protocol;
}

/// The offer that takes least at a point, of those that `may` be taken; the number of offers if there is
/// none.
template <class May>
std::size_t fastest(const ExpectedCurve& curve, std::size_t point, const May& may) {
  std::size_t best = curve.offers.size();
  double least = kCannotRun;
  for (std::size_t k = 0; k < curve.offers.size(); ++k) {
    if (!may(curve.offers[k]) || !(curve.times[k][point] < least)) continue;
    least = curve.times[k][point];
    best = k;
  }
  return best;
}

sim::Status choose_fastest(const PreparedSystem& system, ExpectedCurve& curve) {
  for (std::size_t p = 0; p < curve.measured.points.size(); ++p) {
    const std::size_t best = fastest(curve, p, [](const Choice&) { return true; });
    if (best == curve.offers.size()) {
      return sim::fail(fmt::format("{} cannot run {} of {} bytes on {} GPUs", system.name,
                                   sim::name_of(curve.measured.collective),
                                   curve.measured.points[p].bytes.count(), curve.measured.gpus));
    }
    curve.choices.push_back(best);
    curve.expected.push_back(curve.times[best][p]);
  }
  return {};
}

/// The choice at a point that this machine can run: the healthy one, or the best that needs no switches.
std::size_t possible(const ExpectedCurve& curve, std::size_t point, const PreparedSystem& machine) {
  const std::size_t chosen = curve.choices[point];
  if (!curve.offers[chosen].algorithm->in_network || machine.plan().in_network()) return chosen;
  const std::size_t other =
      fastest(curve, point, [](const Choice& offer) { return !offer.algorithm->in_network; });
  return other < curve.offers.size() ? other : chosen;
}

/// A collective that does not offer what the library is restricted to runs as ever.
Times with_fewer_offers(const ExpectedCurve& curve, const CauseVariant& variant) {
  Times times;
  for (std::size_t p = 0; p < curve.expected.size(); ++p) {
    const std::size_t best = fastest(curve, p, [&](const Choice& offer) { return leaves(variant, offer); });
    times.push_back(best < curve.offers.size() ? curve.times[best][p] : curve.expected[p]);
  }
  return times;
}

}  // namespace

sim::Bytes largest_simulated(const Choice& choice, int gpus) {
  const std::string_view name = choice.algorithm->name;
  // Sends get more channels as they grow, up to 512 MiB. Workgroups of NVLS and lines of LL take many events,
  // and their times grow evenly early.
  if (name == "p2p") return sim::Bytes::gib(1);
  const bool early = name == "nvls" || name == "tree" || choice.protocol == coll::Protocol::kLl;
  const sim::Bytes eight = early ? kThinnedUpTo : kThinnedUpTo * 4;
  return gpus <= 8 ? eight : sim::max(sim::Bytes::mib(4), eight * 8 / gpus);
}

sim::Result<std::vector<ExpectedCurve>> simulate_healthy(const SystemPtr& system,
                                                         std::span<const MeasuredCurve> measured,
                                                         const DoctorProgress& progress,
                                                         const AllowedChoice& allowed) {
  std::vector<ExpectedCurve> out;
  for (const MeasuredCurve& curve : measured) {
    ExpectedCurve& made = out.emplace_back();
    made.measured = curve;
    made.measured.points = thinned(curve.points);
    made.offers = library_choices(*system, curve);
    std::erase_if(made.offers, [&](const Choice& c) { return allowed && !allowed(curve.collective, c); });
  }
  std::vector<Asked> asked;
  std::vector<std::vector<Question>> questions;  // by curve and offer
  for (const ExpectedCurve& curve : out) {
    auto& of_curve = questions.emplace_back();
    for (const Choice& offer : curve.offers) {
      Question& question =
          of_curve.emplace_back(system, curve.measured,
                                fmt::format("expected: {} {} {}", sim::name_of(curve.measured.collective),
                                            name_of(offer), sim::name_of(offer.protocol)));
      for (std::size_t p = 0; p < curve.measured.points.size(); ++p) question.ask(p, offer, asked);
    }
  }
  if (auto ran = run_all_of(asked, progress); !ran) return sim::fail_as(std::move(ran));
  for (std::size_t c = 0; c < out.size(); ++c) {
    for (const Question& question : questions[c]) out[c].times.push_back(question.answers(asked));
    if (auto chosen = choose_fastest(*system, out[c]); !chosen) return sim::fail_as(std::move(chosen));
  }
  return out;
}

sim::Result<std::vector<CauseCurves>> simulate_causes(const SystemPtr& system,
                                                      std::span<const ExpectedCurve> healthy,
                                                      std::span<const LossCause> causes,
                                                      const DoctorProgress& progress) {
  std::vector<CauseCurves> out;
  std::vector<Asked> asked;
  std::vector<std::vector<Question>> questions;  // by CauseCurves and curve; none where nothing is run again
  for (std::size_t i = 0; i < causes.size(); ++i) {
    for (std::size_t v = 0; v < causes[i].variants.size(); ++v) {
      const CauseVariant& variant = causes[i].variants[v];
      SystemPtr machine = system;
      if (variant.machine) {
        auto made = PreparedSystem::make(*variant.machine);
        if (!made) continue;  // nothing of it is left
        machine = *made;
      }
      CauseCurves& curves = out.emplace_back(CauseCurves{.cause = i, .variant = v, .times = {}});
      auto& asks = questions.emplace_back();
      const bool reruns = variant.machine || variant.late > sim::Time{};
      for (const ExpectedCurve& curve : healthy) {
        if (!reruns) {
          curves.times.push_back(with_fewer_offers(curve, variant));
          continue;
        }
        Question& question = asks.emplace_back(
            machine, curve.measured, fmt::format("{}: {}", causes[i].id, variant.label), variant.late);
        for (std::size_t p = 0; p < curve.measured.points.size(); ++p)
          question.ask(p, curve.offers[possible(curve, p, *machine)], asked);
      }
    }
  }
  if (auto ran = run_all_of(asked, progress); !ran) return sim::fail_as(std::move(ran));
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const Question& question : questions[i]) out[i].times.push_back(question.answers(asked));
  }
  std::erase_if(out, [](const CauseCurves& curves) {
    return std::ranges::any_of(curves.times, [](const Times& times) {
      return !std::ranges::all_of(times, [](double us) { return std::isfinite(us); });
    });
  });
  return out;
}

}  // namespace infold::study
