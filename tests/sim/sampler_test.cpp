// Counters read at regular times: rates, levels, and what happens when there are too many rows.
#include "sim/sampler.h"

namespace infold::sim {
namespace {

using namespace literals;

/// Adds 10 to a total every nanosecond for so many of them.
class TickingWork final : public Handler {
 public:
  TickingWork(EventQueue& events, int ticks) : events_(events), left_(ticks) {
    events.schedule(1_ns, Priority::kWork, *this, 0);
  }
  void handle(std::uint32_t) override {
    total += 10;
    if (--left_ > 0) events_.schedule(events_.now() + 1_ns, Priority::kWork, *this, 0);
  }
  double total = 0;

 private:
  EventQueue& events_;
  int left_;
};

std::vector<double> values_of(const TraceRecorder& trace, TraceRecorder::TrackId track) {
  std::vector<double> values;
  for (const auto& s : trace.samples()) {
    if (s.track == track) values.push_back(s.value);
  }
  return values;
}

TEST(Sampler, ShowsWhatWasAddedAndEndsAtZero) {
  EventQueue events;
  TickingWork work(events, 40);
  TraceRecorder trace({.interval = 10_ns});
  const auto track = trace.counter(trace.group("gpu0"), "traffic", "GB/s");
  Sampler sampler(trace, events);
  sampler.add_rate(track, 1e-9, [&](Time) { return work.total; });
  sampler.start();
  EXPECT_FALSE(events.run());
  sampler.finish();
  const std::vector<double> values = values_of(trace, track);
  ASSERT_GE(values.size(), 2u);
  EXPECT_NEAR(values[1], 10, 1e-9);  // 10 bytes a nanosecond; the last tick of an interval counts to the next
  EXPECT_EQ(values.back(), 0);
  EXPECT_EQ(trace.samples().front().at, Time{});
}

TEST(Sampler, StopsWhenNothingElseIsLeft) {
  EventQueue events;
  TickingWork work(events, 1);
  TraceRecorder trace({.interval = 1_ns});
  Sampler sampler(trace, events);
  sampler.add_level(trace.counter(trace.group("gpu0"), "x", "B"), [](Time) { return 0.0; });
  sampler.start();
  EXPECT_FALSE(events.run());
  EXPECT_LE(sampler.events(), 2u);
  EXPECT_TRUE(events.empty());
}

TEST(Sampler, DoublesItsIntervalInsteadOfGrowingWithoutEnd) {
  EventQueue events;
  TickingWork work(events, 10'000);
  TraceRecorder trace({.interval = 1_ns, .most_samples = 64});
  const auto rate = trace.counter(trace.group("gpu0"), "traffic", "GB/s");
  const auto level = trace.counter(trace.group("gpu0"), "peak", "B");
  Sampler sampler(trace, events);
  sampler.add_rate(rate, 1e-9, [&](Time) { return work.total; });
  sampler.add_level(level, [&](Time now) { return now == 500_ns ? 7.0 : 0.0; });
  sampler.start();
  EXPECT_FALSE(events.run());
  sampler.finish();
  EXPECT_LE(trace.samples().size(), 66u);
  EXPECT_GT(trace.spec().interval, 100_ns);
  // What was added over the whole run is still there, and so is the peak.
  double sum = 0;
  const TraceRecorder::Sample* before = nullptr;
  for (const auto& s : trace.samples()) {
    if (s.track != rate) continue;
    if (before != nullptr) sum += before->value * 1e9 * (s.at - before->at).in_s();
    before = &s;
  }
  EXPECT_NEAR(sum, work.total, 1);
}

}  // namespace
}  // namespace infold::sim
