// Reads the timeline of a step that has run.
#include "study/step/step_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "study/step/step_times.h"

namespace infold::study {

namespace {

/// Kernels with a shorter pause between them are drawn as one.
constexpr sim::Time kShortPause = sim::Time::us(5);

int first_rank_of(const work::Graph& graph, int script) {
  return static_cast<int>(std::ranges::find(graph.script_of, script) - graph.script_of.begin());
}

std::vector<StagePass> passes_of(const work::Timeline& timeline, const PlannedStep& step) {
  std::vector<StagePass> all;
  for (int stage = 0; stage < static_cast<int>(step.graph.scripts.size()); ++stage) {
    const int rank = first_rank_of(timeline.graph(), stage);
    for (const train::PassOps& p : step.passes) {
      if (p.stage != stage) continue;
      all.push_back({.stage = stage,
                     .pass = p.pass,
                     .start = timeline.times(rank, p.first).start,
                     .end = timeline.times(rank, p.last).end});
    }
    const StepTimes t = step_times(timeline, step, rank);
    if (t.optimizer_ended > sim::Time{})
      all.push_back({.stage = stage, .pass = {}, .start = t.optimizer_began, .end = t.optimizer_ended});
  }
  return all;
}

std::vector<ComputeSpan> compute_of(const work::Timeline& timeline, const PlannedStep& step, int rank) {
  std::vector<ComputeSpan> all;
  train::Phase phase = train::Phase::kForward;
  for (const work::Stream& stream : timeline.graph().script(rank).streams) {
    if (stream.kind != work::Stream::Kind::kCompute) continue;
    for (const work::OpId op : stream.ops) {
      const auto i = static_cast<std::size_t>(op);
      if (i < step.phases.size() && step.phases[i]) phase = *step.phases[i];
      if (!timeline.ran(rank, op)) continue;
      const work::Timeline::Times t = timeline.times(rank, op);
      if (all.empty() || all.back().phase != phase || t.start > all.back().end + kShortPause) {
        all.push_back({.phase = phase, .start = t.start, .end = t.end});
      } else {
        all.back().end = sim::max(all.back().end, t.end);
      }
    }
  }
  return all;
}

std::vector<CommunicationSpans> communication_spans(const work::Timeline& timeline, int rank) {
  const work::Graph& graph = timeline.graph();
  std::map<std::pair<work::CommunicatorId, coll::Collective>, std::size_t> place;
  std::vector<CommunicationSpans> all;
  for (const work::OpId op : timeline.communications(rank)) {
    const work::CommunicatorId c = work::communicator_of(graph[op]);
    const coll::Collective what = timeline.program(rank, op).collective;
    const auto [at, is_new] = place.try_emplace({c, what}, all.size());
    if (is_new)
      all.push_back(
          {.communicator = graph.communicators[static_cast<std::size_t>(c)].name, .what = what, .spans = {}});
    const work::Timeline::Times t = timeline.times(rank, op);
    all[at->second].spans.push_back({t.start, t.end});
  }
  for (CommunicationSpans& c : all) std::ranges::sort(c.spans, {}, &CommunicationSpans::Span::start);
  return all;
}

}  // namespace

MemoryOverTime memory_over_time(const work::Timeline& timeline, const train::MemoryCurve& curve,
                                const train::MemoryNeed& need, int rank) {
  MemoryOverTime memory{.kept = need.weights + need.gradients + need.optimizer};
  sim::Time end;
  for (const train::MemoryMoment& m : curve) {
    if (!timeline.ran(rank, m.op)) continue;
    const work::Timeline::Times t = timeline.times(rank, m.op);
    memory.levels.push_back({.from = t.start, .passing = m.passing, .gathered = m.gathered});
    end = sim::max(end, t.end);
  }
  std::ranges::stable_sort(memory.levels, {}, &MemoryOverTime::Level::from);
  memory.levels.push_back({.from = end});
  return memory;
}

MemoryOverTime thinned(const MemoryOverTime& memory, std::size_t most) {
  if (memory.levels.size() <= most) return memory;
  MemoryOverTime few{.kept = memory.kept};
  const std::size_t last = memory.levels.size() - 1;  // nothing is left there
  const std::size_t together = (last + most - 2) / (most - 1);
  for (std::size_t i = 0; i < last; i += together) {
    MemoryOverTime::Level level = memory.levels[i];
    const sim::Time from = level.from;
    for (std::size_t k = i; k < std::min(i + together, last); ++k) {
      const MemoryOverTime::Level& l = memory.levels[k];
      if (l.passing + l.gathered > level.passing + level.gathered) level = l;
    }
    level.from = from;
    few.levels.push_back(level);
  }
  few.levels.push_back(memory.levels.back());
  return few;
}

StepHistory step_history(const work::Timeline& timeline, const PlannedStep& step, int rank, bool all) {
  StepHistory history;
  if (!step.passes.empty()) history.pipeline = passes_of(timeline, step);
  if (!all) return history;
  history.compute = compute_of(timeline, step, rank);
  history.communication = communication_spans(timeline, rank);
  for (std::size_t script = 0; script < step.memory_curves.size(); ++script) {
    history.memory.push_back(memory_over_time(timeline, step.memory_curves[script], step.needs[script],
                                              first_rank_of(timeline.graph(), static_cast<int>(script))));
  }
  return history;
}

std::string name_of(const train::Pass& pass, bool several_parts) {
  constexpr std::array kNames = {"forward", "backward", "gradients of inputs", "gradients of weights"};
  return fmt::format("{} of micro-batch {}{}", kNames[static_cast<std::size_t>(pass.kind)], pass.micro_batch,
                     several_parts ? fmt::format(", part {}", pass.chunk) : std::string());
}

}  // namespace infold::study
