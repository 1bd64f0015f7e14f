// Rows of samples. Every other row is merged into its neighbour when there are too many.
#include "sim/sampler.h"

#include <algorithm>
#include <utility>

namespace infold::sim {

namespace {
/// Bounds of the rows of a counter: more rows than a reader can look at are not worth their memory.
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kMostRows = 4096;
}  // namespace

void Sampler::add_rate(TraceRecorder::TrackId track, double scale, std::function<double(Time)> read) {
  counters_.push_back({track, true, scale, std::move(read), 0, {}});
}

void Sampler::add_level(TraceRecorder::TrackId track, std::function<double(Time)> read) {
  counters_.push_back({track, false, 1, std::move(read), 0, {}});
}

void Sampler::start() {
  interval_ = max(trace_.spec().interval, Time::ps(1));
  const std::size_t share = trace_.spec().most_samples / std::max<std::size_t>(counters_.size(), 1);
  most_rows_ = std::clamp(share, kFewestRows, kMostRows) / 2 * 2;
  last_ = events_.now();
  for (Counter& c : counters_) c.total = c.rate ? c.read(last_) : 0;
  events_.schedule(last_ + interval_, Priority::kWork, *this, 0);
}

void Sampler::handle(std::uint32_t) {
  ++ticks_;
  look();
  if (events_.empty()) return;  // the sampler is the last one awake
  events_.schedule(last_ + interval_, Priority::kWork, *this, 0);
}

void Sampler::look() {
  const Time now = events_.now();
  if (now == last_) return;
  begins_.push_back(last_);
  for (Counter& c : counters_) {
    const double reading = c.read(now);
    c.values.push_back(c.rate ? (reading - c.total) * c.scale / (now - last_).in_s() : reading);
    c.total = reading;
  }
  last_ = now;
  if (begins_.size() == most_rows_) thin_out();
}

/// Merges every two rows into one: the mean of rates and the higher of levels, so that no peak is lost.
void Sampler::thin_out() {
  const std::size_t half = begins_.size() / 2;
  for (Counter& c : counters_) {
    for (std::size_t i = 0; i < half; ++i) {
      const double a = c.values[2 * i];
      const double b = c.values[2 * i + 1];
      c.values[i] = c.rate ? (a + b) / 2 : std::max(a, b);
    }
    c.values.resize(half);
  }
  for (std::size_t i = 0; i < half; ++i) begins_[i] = begins_[2 * i];
  begins_.resize(half);
  interval_ = interval_ * 2;
}

void Sampler::finish() {
  look();
  for (const Counter& c : counters_) {
    double shown = 0;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      if (c.values[i] == shown && i > 0) continue;
      shown = c.values[i];
      trace_.sample(c.track, begins_[i], shown);
    }
    trace_.sample(c.track, last_, c.rate ? 0 : c.read(last_));
  }
  trace_.sampled_every(interval_);
}

}  // namespace infold::sim
