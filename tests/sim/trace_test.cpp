// The trace recorder keeps what happened up to its limits and counts the rest.
#include "sim/trace.h"

namespace infold::sim {
namespace {

using namespace literals;

TEST(Trace, KeepsSpansWithTheirTracksAndNames) {
  TraceRecorder trace({});
  const auto track = trace.track(trace.group("gpu0"), "compute stream");
  const auto span = trace.span(track, trace.name("conv"), 1_ns, 3_ns);
  ASSERT_EQ(trace.spans().size(), 1u);
  const TraceRecorder::Span& s = trace.spans()[span];
  EXPECT_EQ(trace.tracks()[s.track].label, "compute stream");
  EXPECT_EQ(trace.tracks()[trace.tracks()[s.track].parent].label, "gpu0");
  EXPECT_EQ(trace.names()[s.name], "conv");
  EXPECT_EQ(s.start, 1_ns);
  EXPECT_EQ(s.end, 3_ns);
}

TEST(Trace, AsksForTheSameTrackOrNameAgain) {
  TraceRecorder trace({});
  const auto a = trace.group("gpu0");
  const auto b = trace.group("gpu1");
  EXPECT_EQ(trace.group("gpu0"), a);
  EXPECT_NE(a, b);
  EXPECT_NE(trace.track(a, "stream"), trace.track(b, "stream"));
  EXPECT_EQ(trace.track(a, "stream"), trace.track(a, "stream"));
  EXPECT_EQ(trace.name("x"), trace.name("x"));
  EXPECT_NE(trace.name("x"), trace.name("y"));
}

TEST(Trace, CountsWhatDoesNotFitAndKeepsDetailsFromCrowdingOutTheRest) {
  TraceRecorder trace({.most_spans = 2, .most_details = 3});
  const auto track = trace.track(trace.group("gpu0"), "stream");
  for (int i = 0; i < 5; ++i) trace.detail(track, trace.name("step"), Time::ns(i), Time::ns(i + 1));
  TraceRecorder::SpanId last = 0;
  for (int i = 0; i < 5; ++i) last = trace.span(track, trace.name("kernel"), Time::ns(i), Time::ns(i + 1));
  EXPECT_EQ(trace.spans().size(), 5u);
  EXPECT_EQ(trace.dropped().details, 2u);
  EXPECT_EQ(trace.dropped().spans, 3u);
  EXPECT_EQ(last, TraceRecorder::kNoSpan);
  trace.arrow(0, last);  // leads nowhere
  EXPECT_TRUE(trace.arrows().empty());
}

}  // namespace
}  // namespace infold::sim
