// Loops over what was asked for, and lets auto choose in between.
#include "study/collective/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "study/collective/fault_run.h"

namespace infold::study {

namespace {

/// The job of one size on one system; engine, algorithm and protocol are not chosen yet.
CollectiveJob job_for(const BenchJob& bench, const SystemPtr& system, std::int64_t bytes) {
  CollectiveJob job = bench.each;
  job.system = system;
  job.gpus = bench.gpus_of(*system);
  job.bytes = whole_elements(job.collective, job.type, sim::Bytes{bytes}, job.gpus / job.groups);
  if (bench.skew) job.delays = skewed(job.gpus, *bench.skew, bench.seed);
  return job;
}

sim::Status keep_offer(CollectiveJob job, const coll::Algorithm* algorithm,
                       std::optional<coll::Protocol> protocol, const sim::GoOn& go_on, KeptJobs& kept) {
  const std::vector<Choice> offers = offers_of(job, algorithm, protocol);
  job.algorithm = offers.empty() ? algorithm : offers.front().algorithm;
  job.protocol =
      protocol.value_or(job.program == nullptr ? coll::Protocol::kSimple : offers.front().protocol);
  if (job.algorithm == nullptr && job.program == nullptr) return sim::fail(why_no_offers(job, protocol));
  auto prepared = prepare(job, go_on);
  if (!prepared) return sim::fail_as(std::move(prepared));
  kept.keep(*std::move(prepared));
  return {};
}

/// Prepares the largest size: if that can be run, smaller ones can be, too.
sim::Status keep_offers(const BenchJob& bench, CollectiveJob job, const sim::GoOn& go_on, KeptJobs& kept) {
  for (const coll::Engine engine : bench.engines) {
    job.engine = engine;
    for (const auto* algorithm : bench.algorithms) {
      for (const auto protocol : bench.protocols) {
        if (auto ok = keep_offer(job, algorithm, protocol, go_on, kept); !ok) return ok;
      }
    }
  }
  return {};
}

bool same_row(const CollectiveJob& a, const CollectiveJob& b) {
  return a.program == b.program && a.protocol == b.protocol && a.system == b.system && a.bytes == b.bytes &&
         a.engine == b.engine && a.algorithm == b.algorithm;
}

class BenchRunner {
 public:
  BenchRunner(const BenchJob& job, const BenchWatch& watch, KeptJobs kept)
      : job_(job), watch_(watch), kept_(std::move(kept)) {
    if (!job.tune) return;
    const SystemSpec& system = *job.systems.front();
    result_.table = {job.each.collective, system.name, job.gpus_of(system), {}};
  }

  sim::Result<BenchResult> run() {
    for (const std::int64_t bytes : job_.sizes) {
      for (std::size_t i = 0; i < job_.systems.size(); ++i) {
        CollectiveJob job = job_for(job_, job_.systems[i], bytes);
        if (job.fault && i < kept_.left.size()) job.fault->left = kept_.left[i];
        for (const coll::Engine engine : job_.engines) {
          job.engine = engine;
          if (auto ran = run_offers(job); !ran) return sim::fail_as(std::move(ran));
        }
      }
    }
    return std::move(result_);
  }

 private:
  using Tried = std::vector<std::pair<Choice, sim::Time>>;

  /// Runs all that was asked for at one size on one engine: each combination, of which "auto" is one.
  sim::Status run_offers(const CollectiveJob& job) {
    Tried tried;
    for (const auto* algorithm : job_.algorithms) {
      for (const auto protocol : job_.protocols) {
        std::vector<Choice> offers = offers_of(job, algorithm, protocol);
        const bool chosen = !job_.tune && job.program == nullptr && (algorithm == nullptr || !protocol);
        if (chosen) offers = {choose_one(job, offers)};
        for (const Choice& choice : offers) {
          const auto time = run_one(job, choice, chosen);
          if (!time) return sim::fail_as(time);
          tried.emplace_back(choice, *time);
        }
      }
    }
    if (job_.tune) tune(job, tried);
    return {};
  }

  /// Puts the best choice of a size into the table, and notes how much auto would have lost.
  void tune(const CollectiveJob& job, const Tried& tried) {
    const auto& best = *std::ranges::min_element(tried, {}, [](const auto& t) { return t.second; });
    result_.table.add(job.bytes, best.first);
    std::vector<Choice> offers;
    offers.reserve(tried.size());
    for (const auto& [choice, time] : tried) offers.push_back(choice);
    const Trial measured = [&](const Choice& choice) {
      return tried[static_cast<std::size_t>(std::ranges::find(offers, choice) - offers.begin())].second;
    };
    const bool tries = static_cast<bool>(simulated(job));
    const sim::Time time = measured(choose(job, offers, watch_.go_on, tries ? measured : Trial{}));
    const double share = time.in_us() / best.second.in_us() - 1;
    if (!result_.auto_loss || share > result_.auto_loss->share) result_.auto_loss = {share, job.bytes};
  }

  /// Takes what the table says, if it is among the offers; otherwise chooses by estimate and trial.
  Choice choose_one(const CollectiveJob& job, const std::vector<Choice>& offers) const {
    if (job_.tuning != nullptr) {
      const Choice choice = job_.tuning->at(job.bytes);
      if (std::ranges::find(offers, choice) != offers.end()) return choice;
    }
    return choose(job, offers, watch_.go_on, simulated(job, watch_.go_on));
  }

  sim::Result<sim::Time> run_one(CollectiveJob job, const Choice& choice, bool chosen) {
    if (!watch_.go_on()) return sim::interrupted();
    job.algorithm = choice.algorithm;
    job.protocol = choice.protocol;
    BenchRow row{.system = job.system,
                 .choice = choice,
                 .chosen = chosen,
                 .gpus = job.gpus,
                 .bytes = job.bytes,
                 .count = job.bytes.count() / coll::size_of(job.type).count(),
                 .estimate_us = {},
                 .result = {}};
    if (job_.tune && choice.algorithm != nullptr) row.estimate_us = estimate_us(job, choice);
    watch_.began(row);
    auto prepared = made_ready(job);
    if (!prepared) return sim::fail_as(std::move(prepared));
    auto result = study::run(*prepared, [&](double share) {
      watch_.progress(share);
      return watch_.go_on();
    });
    if (!result) return sim::fail_as(std::move(result));
    row.result = std::move(*result);
    const sim::Time time = row.result.time;
    watch_.ended(std::move(row));
    return time;
  }

  sim::Result<PreparedJob> made_ready(const CollectiveJob& job) {
    auto kept = kept_.take(job);
    if (!kept) return prepare(job, watch_.go_on);
    kept->set_trace(job.trace);
    return *std::move(kept);
  }

  const BenchJob& job_;
  const BenchWatch& watch_;
  KeptJobs kept_;
  BenchResult result_;
};

}  // namespace

int BenchJob::gpus_of(const SystemSpec& system) const {
  if (each.program != nullptr) return each.program->program.ranks * each.groups;
  return gpus > 0 ? gpus : system.machine.all_gpus();
}

std::size_t BenchJob::rows() const {
  return sizes.size() * systems.size() * algorithms.size() * protocols.size() * engines.size();
}

sim::Bytes whole_elements(coll::Collective collective, coll::DataType type, sim::Bytes bytes, int ranks) {
  const sim::Bytes element = coll::size_of(type);
  const std::int64_t all = bytes.count() / element.count();
  const std::int64_t shares = coll::has_shares(collective) ? std::max(ranks, 1) : 1;
  return element * (all / shares * shares);
}

void KeptJobs::keep(PreparedJob prepared) {
  std::size_t steps = 0;
  for (const coll::Program& p : prepared.programs()) {
    for (const auto& list : p.lists) steps += list.size();
  }
  if (steps_ + steps > kMostSteps) return;
  steps_ += steps;
  jobs_.push_back(std::move(prepared));
}

std::optional<PreparedJob> KeptJobs::take(const CollectiveJob& job) {
  const auto at =
      std::ranges::find_if(jobs_, [&](const PreparedJob& kept) { return same_row(kept.job(), job); });
  if (at == jobs_.end()) return std::nullopt;
  std::optional<PreparedJob> taken = std::move(*at);
  jobs_.erase(at);
  return taken;
}

sim::Result<KeptJobs> prepare_bench(const BenchJob& job, const sim::GoOn& go_on) {
  KeptJobs kept;
  for (const SystemPtr& system : job.systems) {
    const int gpus = job.gpus_of(*system);
    if (gpus > system->machine.all_gpus()) {
      return sim::fail(fmt::format("{}: {} has {} GPUs, not {}",
                                   job.each.program != nullptr ? "--program" : "-g", system->name,
                                   system->machine.all_gpus(), gpus));
    }
    CollectiveJob largest = job_for(job, system, job.sizes.back());
    if (largest.fault) {
      auto left = without(*system, *largest.fault, go_on);
      if (!left) return sim::fail_as(std::move(left));
      largest.fault->left = kept.left.emplace_back(*std::move(left));
    }
    if (auto ok = keep_offers(job, largest, go_on, kept); !ok) return sim::fail_as(std::move(ok));
    // A program that can be cut for the largest size may not be for others.
    for (const std::int64_t bytes : job.each.program != nullptr ? job.sizes : std::vector<std::int64_t>{}) {
      KeptJobs not_kept;
      if (bytes == job.sizes.back()) break;
      if (auto ok = keep_offers(job, job_for(job, system, bytes), go_on, not_kept); !ok)
        return sim::fail_as(std::move(ok));
    }
    const std::size_t delays = job.each.delays.size();
    if (delays > 0 && delays != static_cast<std::size_t>(gpus))
      return sim::fail(fmt::format("--delays: {} times for {} GPUs", delays, gpus));
  }
  return kept;
}

sim::Status check_tuning(const BenchJob& job) {
  const SystemPtr& system = job.systems.front();
  return job.tuning->check(job_for(job, system, 0));
}

sim::Result<BenchResult> run(const BenchJob& job, const BenchWatch& watch, KeptJobs kept) {
  return BenchRunner(job, watch, std::move(kept)).run();
}

}  // namespace infold::study
