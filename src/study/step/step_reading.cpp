// Reads the slowest rank.
#include "study/step/step_reading.h"

#include <algorithm>

namespace infold::study {

namespace {

sim::Time overlap_of(sim::Time a, sim::Time b, sim::Time c, sim::Time d) {
  const sim::Time begin = sim::max(a, c);
  const sim::Time end = sim::min(b, d);
  return end > begin ? end - begin : sim::Time{};
}

}  // namespace

std::vector<BucketResult> read_buckets(const work::Timeline& timeline, const StepPrograms& programs,
                                       int element_bytes) {
  std::vector<BucketResult> buckets;
  for (const work::OpId op : timeline.communications(0)) {
    if (timeline.graph()[op].gradients.empty()) continue;
    const sim::Bytes bytes = timeline.program(0, op).bytes;
    BucketResult r{.bytes = bytes,
                   .elements = bytes.count() / element_bytes,
                   .choice = programs.at(timeline.graph(), 0, op).choice,
                   .ready = {},
                   .start = {},
                   .end = {}};
    for (int g = 0; g < timeline.graph().ranks(); ++g) {
      if (timeline.graph().script_of[static_cast<std::size_t>(g)] != timeline.graph().script_of.front())
        continue;
      const work::Timeline::Times t = timeline.times(g, op);
      r.ready = sim::max(r.ready, t.ready);
      r.start = sim::max(r.start, t.start);
      r.end = sim::max(r.end, t.end);
    }
    buckets.push_back(r);
  }
  return buckets;
}

int read_times(const StepJob& job, const PlannedStep& step, const work::Timeline& timeline,
               const StepPrograms& programs, const std::vector<AloneResult>& alone, int folded,
               StepResult& r) {
  int slowest = 0;
  StepTimes times = step_times(timeline, step, 0);
  sim::Time backward_ended;
  sim::Time optimizer_began;
  for (int g = 0; g < job.gpus; ++g) {
    const StepTimes t = step_times(timeline, step, g);
    backward_ended = sim::max(backward_ended, t.backward_ended);
    optimizer_began = sim::max(optimizer_began, t.optimizer_began);
    r.end = sim::max(r.end, t.optimizer_ended);
    if (!step.step_ended.empty()) {
      const auto script = static_cast<std::size_t>(step.graph.script_of[static_cast<std::size_t>(g)]);
      r.end = sim::max(r.end, timeline.times(g, step.step_ended[script]).end);
    }
    if (step.pass_ended)
      r.pass = sim::max(r.pass.value_or(sim::Time{}), timeline.times(g, *step.pass_ended).end);
    if (t.backward() <= times.backward()) continue;
    slowest = g;
    times = t;
  }
  r.alone = alone[static_cast<std::size_t>(step.graph.script_of[static_cast<std::size_t>(slowest)])];
  r.forward = times.forward();
  r.backward = times.backward();
  r.optimizer = times.optimizer();
  if (step.pipeline) {  // stages end at different times: of one of them, phases do not overlap
    backward_ended = times.backward_ended;
    optimizer_began = times.optimizer_began;
  }
  const sim::Time launch = job.system->machine.gpu.launch_gap;
  r.exposed = sim::max(optimizer_began - backward_ended, launch) - launch;
  for (const work::OpId op : timeline.communications(slowest)) {
    const work::Timeline::Times t = timeline.times(slowest, op);
    r.communicating += t.end - t.start;
    r.communicating_in_backward += overlap_of(t.start, t.end, times.backward_began, times.backward_ended);
    r.sms = std::max(r.sms, timeline.program(slowest, op).sms());
  }
  r.together = together(timeline, slowest);
  const Waits waits = waits_of(timeline, slowest, step.phases, r.end);
  r.waited = waits.exposed();
  r.copied = copy_time(timeline, slowest, r.alone.kernels, times, launch);
  r.communication = communication_use(timeline, programs, slowest, waits);
  for (CommunicationUse& c : r.communication) c.ranks *= folded;
  r.kernels = kernel_use(timeline, slowest, r.alone.kernels);
  r.history = step_history(timeline, step, slowest, job.trace.has_value());
  sim::Time bubbles;
  for (int g = 0; g < job.gpus; ++g) bubbles += waits_of(timeline, g, step.phases, r.end).stages;
  r.bubble = bubbles / job.gpus;
  return slowest;
}

}  // namespace infold::study
