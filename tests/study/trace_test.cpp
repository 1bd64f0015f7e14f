// What a trace holds of a step and of a collective: looking changes nothing, spans nest, arrows go forward in
// time, counters add up to the totals and end at zero.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "job_help.h"
#include "step_help.h"
#include "study/collective/collective_run.h"
#include "study/step/step_run.h"

namespace infold::study {
namespace {

using namespace sim::literals;

/// Every span lies inside the one that is open on its track, or after it.
bool nests(const sim::TraceRecorder& trace) {
  std::map<sim::TraceRecorder::TrackId, std::vector<sim::TraceRecorder::Span>> by_track;
  for (const auto& s : trace.spans()) by_track[s.track].push_back(s);
  for (auto& [track, spans] : by_track) {
    std::ranges::stable_sort(spans, [](const auto& a, const auto& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<sim::Time> open;
    for (const auto& s : spans) {
      while (!open.empty() && open.back() <= s.start) open.pop_back();
      if (s.end < s.start || (!open.empty() && s.end > open.back())) return false;
      open.push_back(s.end);
    }
  }
  return true;
}

/// What a rate adds up to, by the label of its group and its own.
std::map<std::string, double> totals(const sim::TraceRecorder& trace) {
  std::map<std::string, double> sums;
  std::map<sim::TraceRecorder::TrackId, sim::TraceRecorder::Sample> last;
  for (const auto& s : trace.samples()) {
    const auto& track = trace.tracks()[s.track];
    double& sum = sums[trace.tracks()[track.parent].label + " " + track.label];
    if (const auto before = last.find(s.track); before != last.end())
      sum += before->second.value * (s.at - before->second.at).in_s();
    last.insert_or_assign(s.track, s);
  }
  return sums;
}

bool counters_end_at_zero(const sim::TraceRecorder& trace) {
  std::map<sim::TraceRecorder::TrackId, double> last;
  for (const auto& s : trace.samples()) last[s.track] = s.value;
  return !last.empty() && std::ranges::all_of(last, [](const auto& l) { return l.second == 0; });
}

RC_GTEST_PROP(StepTraceProperty, HoldsTogetherWhateverIsTrained, ()) {
  SmallStep step(*rc::gen::inRange(16, 400), 256);
  step.job.sync.kind = *rc::gen::element(train::SyncKind::kDdp, train::SyncKind::kHorovod,
                                         train::SyncKind::kTensorflow, train::SyncKind::kPerTensor);
  step.job.sync.cycle = sim::Time::us(*rc::gen::inRange(1, 200));
  step.job.overlap = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) step.job.delays = {0_ns, 5'000_ns, 0_ns, 90'000_ns};
  if (*rc::gen::arbitrary<bool>())
    step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  const StepResult quiet = step.result();
  step.job.trace = sim::TraceSpec{};
  const StepResult seen = step.result();
  RC_ASSERT(!quiet.trace.has_value());
  RC_ASSERT(seen.end == quiet.end);
  RC_ASSERT(seen.backward == quiet.backward);
  RC_ASSERT(seen.events == quiet.events);
  const sim::TraceRecorder& trace = *seen.trace;
  RC_ASSERT(nests(trace));
  RC_ASSERT(counters_end_at_zero(trace));
  RC_ASSERT(trace.arrows().size() >= quiet.buckets.size() * 2 * 4);
  for (const auto& a : trace.arrows()) RC_ASSERT(trace.spans()[a.from].start <= trace.spans()[a.to].start);
}

TEST(StepTrace, CountsTheWorkThatAnotherGpuDidForThisOne) {
  SmallStep step;
  step.job.trace = sim::TraceSpec{};
  const auto once = totals(*step.result().trace);
  step.job.together = false;
  const auto each = totals(*step.result().trace);
  ASSERT_EQ(once.size(), each.size());
  for (const auto& [name, sum] : each) {
    if (name.find("in flight") != std::string::npos) continue;
    EXPECT_NEAR(once.at(name), sum, 1e-6 * sum + 1e-12) << name;
  }
}

/// Spans by the label of their track.
std::map<std::string, std::size_t> spans_by_label(const sim::TraceRecorder& trace) {
  std::map<std::string, std::size_t> counts;
  for (const auto& span : trace.spans()) ++counts[trace.tracks()[span.track].label];
  return counts;
}

/// Four blocks that a pipeline can be cut between.
train::Graph four_blocks() {
  train::Linear wide;
  wide.out = 512;
  train::Linear last;
  last.out = 10;
  train::Model m;
  m.input.features = 512;
  const train::Node block{train::Repeat{4, {train::Node{train::Layer{wide}, {}}}}, {}};
  m.layers = {block, train::Node{train::Layer{last}, {}}, train::Node{train::Layer{train::Loss{}}, {}}};
  return train::build_graph(m).value();
}

TEST(StepTrace, OfAPipelineHasItsPassesAndMessages) {
  for (const auto schedule : {train::ScheduleKind::k1f1b, train::ScheduleKind::kZeroBubble}) {
    SmallStep step;
    step.graph = four_blocks();
    step.job.layout = {.dp = 0, .pp = 2};
    step.job.pipeline = {.schedule = schedule, .micro_batches = 3};
    const StepResult quiet = step.result();
    step.job.trace = sim::TraceSpec{};
    const StepResult seen = step.result();
    EXPECT_EQ(seen.end, quiet.end);
    EXPECT_EQ(seen.events, quiet.events);
    const sim::TraceRecorder& trace = *seen.trace;
    EXPECT_TRUE(nests(trace));
    EXPECT_TRUE(counters_end_at_zero(trace));
    std::map<std::string, int> names;
    for (const auto& s : trace.spans()) ++names[trace.names()[s.name]];
    EXPECT_EQ(names["forward of micro-batch 2"], 4) << "on each GPU";
    EXPECT_EQ(names["optimizer"], 4);
    EXPECT_GT(names["linear 1: product"], 0) << "kernels are in their passes";
    std::size_t messages = 0;
    for (const auto& [label, count] : spans_by_label(trace))
      messages += label.starts_with("communicator") ? count : 0;
    EXPECT_EQ(messages, 4U * 2 * 3) << "each rank sends or gets three, and their gradients";
    EXPECT_FALSE(trace.arrows().empty()) << "from kernels to buckets";
  }
}

/// The job's result with a trace, which changes nothing else, nests and comes to rest.
CollectiveResult watched(CollectiveJob job) {
  const CollectiveResult quiet = result_of(job);
  job.trace = sim::TraceSpec{.interval = 100_ns};
  CollectiveResult seen = result_of(job);
  EXPECT_EQ(seen.time, quiet.time);
  EXPECT_EQ(seen.events, quiet.events);
  EXPECT_TRUE(nests(*seen.trace));
  EXPECT_TRUE(counters_end_at_zero(*seen.trace));
  return seen;
}

TEST(CollectiveTrace, OfInNetworkDesignsShowsHowResultsComeAlong) {
  SystemSpec system = small_system(4, 2);
  system.machine.inc.wave = system.machine.inc.payload * 64;
  system.machine.inc.waves = 2;
  for (const char* name : {"inc-push", "inc-pull", "nvls"}) {
    SCOPED_TRACE(name);
    CollectiveJob job = job_on(system, Collective::kAllReduce, sim::Bytes::kib(512));
    job.algorithm = coll::find_algorithm(name);
    const CollectiveResult seen = watched(job);
    auto counts = spans_by_label(*seen.trace);
    if (job.algorithm->name == "nvls") continue;  // workgroups have lines of their own
    EXPECT_EQ(counts["engine: results"], 4U * 16) << "a sixteenth each on four GPUs";
    EXPECT_EQ(counts["engine: answers"], job.algorithm->name == "inc-pull" ? 4U * 16 : 0U);
    // 512 KiB of 128 B, 64 packets a wave; those of even and odd number have a lane each.
    const std::size_t waves = job.algorithm->name == "inc-push" ? 4 * 64 / 2 : 0;
    EXPECT_EQ(counts["engine: waves (1)"], waves);
    EXPECT_EQ(counts["engine: waves (2)"], waves);
  }
}

TEST(CollectiveTrace, AddsUpToWhatTheResultSays) {
  const SystemSpec system = small_system(4, 2);
  const CollectiveJob job = job_on(system, Collective::kAllReduce, sim::Bytes::kib(512));
  const CollectiveResult seen = watched(job);
  const auto sums = totals(*seen.trace);
  double sent = 0;
  for (int g = 0; g < 4; ++g) sent += sums.at("gpu" + std::to_string(g) + " links out") * 1e9;
  EXPECT_NEAR(sent / 4 / static_cast<double>(seen.wire_bytes_per_gpu), 1, 0.01);
}

}  // namespace
}  // namespace infold::study
