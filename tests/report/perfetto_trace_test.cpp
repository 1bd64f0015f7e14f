// A trace file read back: tracks, spans that nest, flows that connect, what the file says of itself.
#include "report/output/perfetto_trace.h"

#include <map>
#include <set>

#include "perfetto.pb.h"

namespace infold::report {
namespace {

using namespace sim::literals;
using perfetto::TrackEvent;

class PerfettoTrace : public testing::Test {
 protected:
  PerfettoTrace() : recorder({.interval = 2_ns}) {
    gpu = recorder.group("gpu0");
    stream = recorder.track(gpu, "compute stream");
    other = recorder.track(gpu, "communication stream");
    counter = recorder.counter(gpu, "links out", "GB/s");
    recorder.span(stream, recorder.name("backward"), 1_ns, 9_ns);
    const auto from = recorder.span(stream, recorder.name("conv"), 1_ns, 4_ns);
    recorder.span(stream, recorder.name("conv"), 4_ns, 9_ns);
    recorder.arrow(from, recorder.span(other, recorder.name("bucket"), 5_ns, 8_ns));
    recorder.sample(counter, 0_ns, 25.5);
    recorder.sample(counter, 6_ns, 0);
  }
  perfetto::Trace read_back(const std::vector<TracedRun>& runs) const {
    perfetto::Trace trace;
    EXPECT_TRUE(trace.ParseFromString(perfetto_trace({.version = "1", .typed = "infold x", .runs = runs})));
    return trace;
  }
  std::map<std::string, const perfetto::TrackDescriptor*> tracks(const perfetto::Trace& t) const {
    std::map<std::string, const perfetto::TrackDescriptor*> by_name;
    for (const auto& p : t.packet()) {
      if (!p.has_track_descriptor()) continue;
      const auto& d = p.track_descriptor();
      by_name[d.has_process() ? d.process().process_name() : d.name()] = &d;
    }
    return by_name;
  }
  sim::TraceRecorder recorder;
  sim::TraceRecorder::TrackId gpu, stream, other, counter;
};

TEST_F(PerfettoTrace, HasAProcessForAGpuWithItsTracks) {
  const auto trace = read_back({{.place = "ring", .label = "run", .begins = {}, .trace = &recorder}});
  const auto by_name = tracks(trace);
  ASSERT_TRUE(by_name.contains("gpu0, ring"));
  EXPECT_EQ(by_name.at("compute stream")->parent_uuid(), by_name.at("gpu0, ring")->uuid());
  EXPECT_EQ(by_name.at("links out")->counter().unit_name(), "GB/s");
}

TEST_F(PerfettoTrace, SpansNestAndEveryOneEnds) {
  const auto trace = read_back({{.place = "", .label = "run", .begins = {}, .trace = &recorder}});
  std::map<std::uint64_t, int> depth;
  int deepest = 0;
  std::map<std::uint64_t, std::uint64_t> last;
  for (const auto& p : trace.packet()) {
    if (!p.has_track_event()) continue;
    const auto& e = p.track_event();
    EXPECT_GE(p.timestamp(), last[e.track_uuid()]);
    last[e.track_uuid()] = p.timestamp();
    if (e.type() == TrackEvent::SLICE_BEGIN) deepest = std::max(deepest, ++depth[e.track_uuid()]);
    if (e.type() != TrackEvent::SLICE_END) continue;
    EXPECT_GE(--depth[e.track_uuid()], 0);
  }
  EXPECT_EQ(deepest, 2);
  for (const auto& [track, open] : depth) EXPECT_EQ(open, 0) << track;
}

TEST_F(PerfettoTrace, AFlowBeginsAtOneSpanAndEndsAtAnother) {
  const auto trace = read_back({{.place = "", .label = "run", .begins = {}, .trace = &recorder}});
  std::multiset<std::uint64_t> begun, ended;
  for (const auto& p : trace.packet()) {
    for (const auto id : p.track_event().flow_ids()) begun.insert(id);
    for (const auto id : p.track_event().terminating_flow_ids()) ended.insert(id);
  }
  EXPECT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun, ended);
}

TEST_F(PerfettoTrace, RunsOfOnePlaceShareTheirTracksOneAfterTheOther) {
  const auto trace = read_back({{.place = "a", .label = "first", .begins = {}, .trace = &recorder},
                                {.place = "a", .label = "second", .begins = 100_ns, .trace = &recorder}});
  int processes = 0;
  std::uint64_t latest = 0;
  for (const auto& p : trace.packet()) {
    processes += p.track_descriptor().has_process() ? 1 : 0;
    latest = std::max<std::uint64_t>(latest, p.timestamp());
  }
  EXPECT_EQ(processes, 2);  // the GPU, and infold itself
  EXPECT_EQ(latest, 109u);
}

TEST_F(PerfettoTrace, SaysHowItWasMadeAndWhatIsLeftOut) {
  const auto trace = read_back({{.place = "", .label = "run", .begins = {}, .trace = &recorder}});
  std::map<std::string, std::string> said;
  for (const auto& p : trace.packet()) {
    for (const auto& a : p.track_event().debug_annotations())
      said[a.name()] = a.has_string_value() ? a.string_value() : std::to_string(a.uint_value());
  }
  EXPECT_EQ(said["command"], "infold x");
  EXPECT_EQ(said["sampling interval"], "2 ns");
  EXPECT_EQ(said["spans left out"], "0");
  EXPECT_EQ(said["samples at most"], std::to_string(recorder.spec().most_samples));
}

TEST_F(PerfettoTrace, TheSameInputGivesTheSameBytes) {
  const TraceFile file{.version = "1",
                       .typed = "x",
                       .runs = {{.place = "", .label = "run", .begins = {}, .trace = &recorder}}};
  EXPECT_EQ(perfetto_trace(file), perfetto_trace(file));
}

}  // namespace
}  // namespace infold::report
