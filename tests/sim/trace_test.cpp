// The trace recorder keeps spans up to its cap and counts the rest.
#include "sim/trace.h"

namespace infold::sim {
namespace {

using namespace literals;

TEST(Trace, KeepsSpansWithTheirTracksAndNames) {
  TraceRecorder trace(10);
  const auto track = trace.add_track("rank 0");
  const auto name = trace.add_name("send");
  trace.span(track, name, 1_ns, 3_ns);
  ASSERT_EQ(trace.spans().size(), 1u);
  const TraceRecorder::Span& span = trace.spans()[0];
  EXPECT_EQ(trace.tracks()[span.track], "rank 0");
  EXPECT_EQ(trace.names()[span.name], "send");
  EXPECT_EQ(span.start, 1_ns);
  EXPECT_EQ(span.end, 3_ns);
  EXPECT_EQ(trace.dropped(), 0u);
}

TEST(Trace, NumbersTracksAndNamesInOrder) {
  TraceRecorder trace(0);
  EXPECT_EQ(trace.add_track("a"), 0u);
  EXPECT_EQ(trace.add_track("b"), 1u);
  EXPECT_EQ(trace.add_name("x"), 0u);
}

TEST(Trace, CountsWhatDoesNotFit) {
  TraceRecorder trace(2);
  for (int i = 0; i < 5; ++i) trace.span(0, 0, Time::ns(i), Time::ns(i + 1));
  ASSERT_EQ(trace.spans().size(), 2u);
  EXPECT_EQ(trace.spans()[1].start, 1_ns);
  EXPECT_EQ(trace.dropped(), 3u);
}

}  // namespace
}  // namespace infold::sim
