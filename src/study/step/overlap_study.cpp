// Runs all simulations of the study as one list, so that threads are never without work.
#include "study/step/overlap_study.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "study/step/many_steps.h"

namespace infold::study {

namespace {

/// The error that ends the study, if there is one.
class Trouble {
 public:
  void note(sim::Error what) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::move(what);
  }
  bool none() {
    const std::lock_guard lock(mutex_);
    return !first_;
  }
  sim::Error take() { return std::move(*first_); }

 private:
  std::mutex mutex_;
  std::optional<sim::Error> first_;
};

class Study {
 public:
  Study(const OverlapJob& job, const KeepGoing& keep_going) : job_(job), keep_going_(keep_going) {
    for (const OverlapCase& c : job.cases) result_.cases.push_back(empty_case(c));
    for (const SizeWindow& w : job.windows) result_.windows.push_back(empty_window(w));
    for (std::size_t c = 0; c < job.cases.size(); ++c) {
      work_.emplace_back([this, c](std::size_t i) { run_sequential(c, i); });
      for (std::size_t m = 0; m < job.cases[c].methods.size(); ++m)
        work_.emplace_back([this, c, m](std::size_t i) { run_overlap(c, m, i); });
      left_.emplace_back(kCauseNames.size());
      for (std::size_t cause = 0; job.cases[c].explain && cause < kCauseNames.size(); ++cause)
        work_.emplace_back([this, c, cause](std::size_t i) { run_without(c, cause, i); });
    }
    // What takes longest comes first, so that all threads have work until the end.
    for (std::size_t w = 0; w < job.windows.size(); ++w) {
      for (std::size_t m = 0; m < job.windows[w].methods.size(); ++m) {
        if (on_a_line(w, m)) work_.emplace_back([this, w, m](std::size_t i) { run_line(w, m, i); });
      }
      for (std::size_t n = job.windows[w].sizes.size(); n-- > 0;) {
        for (std::size_t m = 0; m < job.windows[w].methods.size(); ++m) {
          if (!on_a_line(w, m) || job.windows[w].is_simulated(job.windows[w].sizes[n]))
            work_.emplace_back([this, w, m, n](std::size_t i) { run_window(w, m, n, i); });
        }
      }
    }
    under_way_.resize(work_.size());
  }

  sim::Result<OverlapResult> run() {
    in_parallel(work_.size(), job_.threads, [&](std::size_t i) {
      if (trouble_.none()) work_[i](i);
      const std::lock_guard lock(asking_);
      under_way_[i] = 0;
      ++done_;
    });
    if (!trouble_.none()) return sim::fail(trouble_.take());
    for (std::size_t c = 0; c < job_.cases.size(); ++c) {
      if (job_.cases[c].explain) result_.cases[c].causes = parts_of(result_.cases[c].slowdown(), left_[c]);
    }
    for (SizeWindowResult& w : result_.windows) {
      for (auto& row : w.times) {
        if (!row.refused.empty()) row.result.reset();
      }
    }
    return std::move(result_);
  }

 private:
  static OverlapCaseResult empty_case(const OverlapCase& c) {
    OverlapCaseResult r;
    for (const Method& m : c.methods) r.overlap.push_back({m, std::nullopt, {}});
    return r;
  }
  static SizeWindowResult empty_window(const SizeWindow& w) {
    SizeWindowResult r;
    for (const Method& m : w.methods) r.times.push_back({m, std::vector<sim::Time>(w.sizes.size()), {}});
    return r;
  }

  /// Reports that a piece of the work is done by this share, and returns whether to go on.
  bool ask(std::size_t piece, double share) {
    if (!trouble_.none()) return false;
    if (!keep_going_) return true;
    const std::lock_guard lock(asking_);
    under_way_[piece] = std::max(under_way_[piece], share);
    return keep_going_(
        (static_cast<double>(done_) + std::accumulate(under_way_.begin(), under_way_.end(), 0.0)) /
        static_cast<double>(work_.size()));
  }

  /// Returns the result, or nothing after an error. The error then ends the study, unless it is only a
  /// refusal and `refused` takes it.
  template <class T>
  std::optional<T> result_of(sim::Result<T> result, std::string* refused) {
    if (result) return std::move(*result);
    if (refused != nullptr && result.error().kind == sim::Error::Kind::kInput) {
      *refused = std::move(result.error().message);
    } else {
      trouble_.note(std::move(result.error()));
    }
    return std::nullopt;
  }

  void run_sequential(std::size_t c, std::size_t piece) {
    const StepJob step = variant_of(job_.cases[c].step, job_.cases[c].methods.front(), Variant::kSequential);
    if (auto r = result_of(study::run(step, [=, this](double share) { return ask(piece, share); }), nullptr))
      result_.cases[c].sequential = std::move(*r);
  }

  void run_overlap(std::size_t c, std::size_t m, std::size_t piece) {
    const StepJob step = variant_of(job_.cases[c].step, job_.cases[c].methods[m], Variant::kOverlap);
    auto& row = result_.cases[c].overlap[m];
    row.result = result_of(study::run(step, [=, this](double share) { return ask(piece, share); }),
                           m == 0 ? nullptr : &row.refused);
  }

  void run_without(std::size_t c, std::size_t cause, std::size_t piece) {
    const StepJob step = variant_of(job_.cases[c].step, job_.cases[c].methods.front(), Variant::kOverlap);
    const std::optional<StepJob> rest = without(kCauseNames[cause].value, step);
    if (!rest) return;
    const auto r =
        result_of(study::run(*rest, [=, this](double share) { return ask(piece, share); }), nullptr);
    if (!r) return;
    left_[c][cause] = r->slowdown();
    if (kCauseNames[cause].value != Cause::kWait) return;
    const double copied = std::clamp(r->copied.backward.in_s() / r->alone.times.backward().in_s(), 0.0,
                                     std::max(r->slowdown(), 0.0));
    *left_[c][cause] -= copied;
    left_[c][static_cast<std::size_t>(Cause::kCopy)] = copied;
  }

  /// The time of one all-reduce with the protocol that `chosen_for` bytes would be sent by.
  std::optional<sim::Time> time_of(std::size_t w, std::size_t m, sim::Bytes bytes, sim::Bytes chosen_for,
                                   std::size_t piece) {
    const SizeWindow& window = job_.windows[w];
    CollectiveJob job{.system = window.system,
                      .algorithm = window.methods[m].algorithm,
                      .engine = window.methods[m].engine,
                      .bytes = chosen_for,
                      .gpus = window.gpus,
                      .burst = {}};
    const auto offers = offers_of(job, job.algorithm, std::nullopt);
    const Choice choice =
        offers.empty() ? Choice{job.algorithm, coll::Protocol::kSimple} : choose(job, offers);
    job.algorithm = choice.algorithm;
    job.protocol = choice.protocol;
    job.bytes = bytes;
    std::string refused;
    const auto r = result_of(study::run(job, [=, this](double share) { return ask(piece, share); }),
                             m == 0 ? nullptr : &refused);
    if (r) return r->time;
    auto& row = result_.windows[w].times[m];
    const std::lock_guard lock(asking_);  // sizes of a method share its row
    if (row.refused.empty() || refused < row.refused) row.refused = std::move(refused);
    return std::nullopt;
  }

  void run_window(std::size_t w, std::size_t m, std::size_t n, std::size_t piece) {
    const sim::Bytes size = job_.windows[w].sizes[n];
    if (const auto time = time_of(w, m, size, size, piece)) (*result_.windows[w].times[m].result)[n] = *time;
  }

  /// Only what switches reduce takes too long to simulate at any size.
  bool on_a_line(std::size_t w, std::size_t m) const {
    const SizeWindow& window = job_.windows[w];
    return !window.is_simulated(window.sizes.back()) && in_network(window.methods[m]);
  }

  /// The sizes that are not simulated.
  void run_line(std::size_t w, std::size_t m, std::size_t piece) {
    const SizeWindow& window = job_.windows[w];
    const sim::Bytes most = window.simulate_to;
    const auto half = time_of(w, m, most / 2, window.sizes.back(), piece);
    const auto whole = half ? time_of(w, m, most, window.sizes.back(), piece) : std::nullopt;
    if (!whole) return;
    for (std::size_t n = 0; n < window.sizes.size(); ++n) {
      if (window.is_simulated(window.sizes[n])) continue;
      const double halves =
          2.0 * static_cast<double>((window.sizes[n] - most).count()) / static_cast<double>(most.count());
      const double more = static_cast<double>((*whole - *half).count_ps()) * halves;
      (*result_.windows[w].times[m].result)[n] = *whole + sim::Time::ps(std::llround(more));
    }
  }

  const OverlapJob& job_;
  const KeepGoing& keep_going_;
  OverlapResult result_;
  std::vector<std::vector<std::optional<double>>> left_;  // by case: the slow-down without each cause
  std::vector<std::function<void(std::size_t piece)>> work_;
  std::vector<double> under_way_;  // the share of each piece of work that is done, while it is under way
  Trouble trouble_;
  std::mutex asking_;
  std::size_t done_ = 0;
};

}  // namespace

std::optional<SizeWindowResult::Wins> SizeWindowResult::wins(std::size_t method) const {
  if (!times[method].result) return std::nullopt;
  const std::vector<sim::Time>& first = *times.front().result;
  const std::vector<sim::Time>& mine = *times[method].result;
  std::optional<Wins> best;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] >= first[i]) continue;
    std::size_t last = i;
    while (last + 1 < mine.size() && mine[last + 1] < first[last + 1]) ++last;
    if (!best || last - i > best->last - best->first) best = Wins{i, last};
    i = last;
  }
  return best;
}

double OverlapResult::mean_slowdown_beside() const {
  double sum = 0;
  int count = 0;
  for (const OverlapCaseResult& c : cases) {
    const StepResult& r = *c.overlap.front().result;
    if (r.communicating_in_backward == sim::Time{}) continue;
    sum += r.slowdown_beside();
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

sim::Result<OverlapResult> run(const OverlapJob& job, const KeepGoing& keep_going) {
  return Study(job, keep_going).run();
}

}  // namespace infold::study
