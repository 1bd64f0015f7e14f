// Names passes and phases; rounds times as the rest of the report does.
#include "report/step_history_report.h"

#include <algorithm>
#include <array>

#include "report/json.h"
#include "report/rounding.h"

namespace infold::report {

namespace {

constexpr std::array kPassNames = {"forward", "backward", "input-gradient", "weight-gradient"};
constexpr std::array kPhaseNames = {"forward", "backward", "optimizer"};
constexpr std::size_t kMostLevels = 300;
constexpr std::size_t kMostSpans = 1500;

bool has_chunks(const study::StepHistory& history) {
  return std::ranges::any_of(history.pipeline,
                             [](const study::StagePass& p) { return p.pass && p.pass->chunk > 0; });
}

/// Where there are more spans than a chart can show, neighbouring ones are joined.
Json spans_json(const std::vector<study::CommunicationSpans::Span>& spans) {
  const std::size_t together = (spans.size() + kMostSpans - 1) / kMostSpans;
  Json list = Json::array();
  for (std::size_t i = 0; i < spans.size(); i += std::max<std::size_t>(together, 1)) {
    sim::Time end = spans[i].end;
    for (std::size_t k = i; k < std::min(i + together, spans.size()); ++k) end = sim::max(end, spans[k].end);
    list.push_back({ms(spans[i].start), ms(end)});
  }
  return list;
}

Json memory_json(const study::MemoryOverTime& whole) {
  const study::MemoryOverTime memory = study::thinned(whole, kMostLevels);
  Json at = Json::array();
  Json passing = Json::array();
  Json gathered = Json::array();
  for (const study::MemoryOverTime::Level& l : memory.levels) {
    at.push_back(ms(l.from));
    passing.push_back(l.passing);
    gathered.push_back(l.gathered);
  }
  Json json = {{"kept", memory.kept.count()}, {"at_ms", at}, {"activations", passing}};
  if (std::ranges::any_of(memory.levels, [](const auto& l) { return l.gathered > 0; }))
    json["gathered"] = gathered;
  return json;
}

}  // namespace

Json pipeline_json(const study::StepHistory& history) {
  Json all = Json::array();
  const bool chunks = has_chunks(history);
  for (const study::StagePass& p : history.pipeline) {
    Json one = {{"stage", p.stage},
                {"pass", p.pass ? kPassNames[static_cast<std::size_t>(p.pass->kind)] : "optimizer"},
                {"micro_batch", p.pass ? Json(p.pass->micro_batch) : Json(nullptr)}};
    if (chunks) one["chunk"] = p.pass ? Json(p.pass->chunk) : Json(nullptr);
    one["start_ms"] = ms(p.start);
    one["end_ms"] = ms(p.end);
    all.push_back(std::move(one));
  }
  return all;
}

Json history_json(const study::StepHistory& history) {
  if (history.compute.empty() && history.memory.empty()) return nullptr;
  Json compute = Json::array();
  for (const study::ComputeSpan& s : history.compute)
    compute.push_back({kPhaseNames[static_cast<std::size_t>(s.phase)], ms(s.start), ms(s.end)});
  Json communication = Json::array();
  for (const study::CommunicationSpans& c : history.communication)
    communication.push_back(
        {{"name", c.communicator}, {"collective", sim::name_of(c.what)}, {"spans", spans_json(c.spans)}});
  Json memory = Json::array();
  for (const study::MemoryOverTime& m : history.memory) memory.push_back(memory_json(m));
  return {{"compute", compute}, {"communication", communication}, {"memory", memory}};
}

}  // namespace infold::report
