// Samples of one GPU, thinned out.
#include "report/output/page_counters.h"

#include <algorithm>

namespace infold::report {

namespace {

using Sample = sim::TraceRecorder::Sample;

void add(PageCounter& counter, sim::Time at, double value) {
  counter.at_ms.push_back(at.in_us() / 1e3);
  counter.values.push_back(value);
}

/// The mean of a value that holds from each sample to the next, over [begin, end).
class Means {
 public:
  explicit Means(const std::vector<Sample>& samples) : samples_(samples) {}
  /// Requires: called with times that follow each other.
  double over(sim::Time begin, sim::Time end) {
    double sum = 0;
    sim::Time at = begin;
    while (at < end) {
      while (next_ < samples_.size() && samples_[next_].at <= at) ++next_;
      const sim::Time until = next_ < samples_.size() ? sim::min(samples_[next_].at, end) : end;
      const double value = next_ == 0 ? 0 : samples_[next_ - 1].value;
      sum += value * (until - at).in_s();
      at = until;
    }
    return sum / (end - begin).in_s();
  }

 private:
  const std::vector<Sample>& samples_;
  std::size_t next_ = 0;
};

void fill(PageCounter& counter, const std::vector<Sample>& samples, std::size_t most) {
  if (samples.size() <= most) {
    for (const Sample& s : samples) add(counter, s.at, s.value);
    return;
  }
  const sim::Time end = samples.back().at;
  Means means(samples);
  for (std::size_t i = 0; i + 1 < most; ++i) {
    const auto at = [&](std::size_t k) {
      return sim::Time::ps(end.count_ps() / static_cast<std::int64_t>(most - 1) *
                           static_cast<std::int64_t>(k));
    };
    add(counter, at(i), means.over(at(i), at(i + 1)));
  }
  add(counter, end, samples.back().value);
}

}  // namespace

PageCounters counters_of(const sim::TraceRecorder& trace, std::size_t row, std::size_t most) {
  using Kind = sim::TraceRecorder::Kind;
  PageCounters all{.row = row, .gpu = {}, .counters = {}};
  const auto& tracks = trace.tracks();
  const auto group = std::ranges::find(tracks, Kind::kGroup, &sim::TraceRecorder::Track::kind);
  if (group == tracks.end()) return all;
  all.gpu = group->label;
  const auto gpu = static_cast<sim::TraceRecorder::TrackId>(group - tracks.begin());
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind != Kind::kCounter || tracks[t].parent != gpu) continue;
    std::vector<Sample> samples;
    std::ranges::copy_if(trace.samples(), std::back_inserter(samples),
                         [&](const Sample& s) { return s.track == t; });
    PageCounter counter{.name = tracks[t].label, .unit = tracks[t].unit, .at_ms = {}, .values = {}};
    fill(counter, samples, most);
    if (!counter.values.empty()) all.counters.push_back(std::move(counter));
  }
  return all;
}

}  // namespace infold::report
