// Prints one step per line, in both forms.
#include "report/program_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/yaml/describe.h"

namespace infold::report {

namespace {

std::string ranks_text(const coll::Peers& peers) {
  return fmt::format("{}", fmt::join(peers.begin(), peers.end(), ", "));
}

std::string step_text(const coll::Step& s) {
  std::string text = coll::name_of(s);
  if (s.receives()) text += fmt::format(" from {}", ranks_text(s.from));
  if (s.sends()) text += fmt::format(" to {}", ranks_text(s.to));
  if (s.bytes > sim::Bytes{}) text += fmt::format(", {} B", s.bytes.count());
  if (s.uses_input) text += fmt::format(", input at {}", s.input_offset.count());
  if (s.uses_held) text += fmt::format(", held at {}", s.held_offset.count());
  if (s.writes_output) text += fmt::format(", output at {}", s.output_offset.count());
  if (s.lands) text += fmt::format(", into outputs at {}", s.output_offset.count());
  if (s.landed) text += ", lands in the output";
  if (s.who != coll::NetWho::kAll) text += fmt::format(", for {}", sim::name_of(s.who));
  if (s.stride > sim::Bytes{}) text += fmt::format(", shares {} B apart", s.stride.count());
  if (s.stage > sim::Bytes{}) text += fmt::format(", staged by {} B", s.stage.count());
  if (s.finishes) text += ", complete";
  return text;
}

std::string step_json(const coll::Step& s) {
  std::string text = fmt::format("{{\"op\": \"{}\"", coll::name_of(s));
  if (s.receives()) text += fmt::format(", \"from\": [{}]", ranks_text(s.from));
  if (s.sends()) text += fmt::format(", \"to\": [{}]", ranks_text(s.to));
  if (s.bytes > sim::Bytes{}) text += fmt::format(", \"bytes\": {}", s.bytes.count());
  if (s.uses_input) text += fmt::format(", \"input\": {}", s.input_offset.count());
  if (s.uses_held) text += fmt::format(", \"held\": {}", s.held_offset.count());
  if (s.writes_output) text += fmt::format(", \"output\": {}", s.output_offset.count());
  if (s.lands) text += fmt::format(", \"put\": {}", s.output_offset.count());
  if (s.landed) text += ", \"landed\": true";
  if (s.finishes) text += ", \"finish\": true";
  if (s.in_network())
    text += fmt::format(", \"net\": \"{}\", \"who\": \"{}\"", sim::name_of(s.net), sim::name_of(s.who));
  if (s.stage > sim::Bytes{}) text += fmt::format(", \"stage\": {}", s.stage.count());
  if (s.stride > sim::Bytes{}) text += fmt::format(", \"stride\": {}", s.stride.count());
  return text + "}";
}

std::string tuning_json(const coll::Tuning& tuning) {
  std::string text;
  for (const config::Parameter& p : config::parameters(tuning)) {
    if (p.path.find('.') != std::string::npos)
      continue;  // a setting of other protocols: programs that are shown run with Simple
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", p.path, nlohmann::json(p.value).dump());
  }
  return "{" + text + "}";
}

template <class F>
void for_lists(const coll::Program& program, F f) {
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel)
      f(rank, channel, program.steps(rank, channel));
  }
}

}  // namespace

std::string program_text(const coll::Program& program, const ProgramHeading& heading) {
  std::string text =
      fmt::format("{} of {} bytes, {} on {}: {} ranks, {} channels\n", sim::name_of(program.collective),
                  program.bytes.count(), heading.algo, heading.system, program.ranks, program.channels);
  for_lists(program, [&](int rank, int channel, const std::vector<coll::Step>& steps) {
    text += fmt::format("rank {} channel {}\n", rank, channel);
    for (std::size_t i = 0; i < steps.size(); ++i)
      text += fmt::format("  {:>4}  {}\n", i + 1, step_text(steps[i]));
  });
  return text;
}

std::string program_json(const coll::Program& program, const ProgramHeading& heading) {
  std::string text = fmt::format(
      "{{\"schema\": 1, \"command\": \"program\", \"collective\": \"{}\", \"algo\": {}, \"system\": {},\n"
      " \"bytes\": {}, \"scratch_bytes\": {}, \"ranks\": {}, \"channels\": {}, \"root\": {}, \"engine\": "
      "\"{}\",\n"
      " \"coll\": {},\n"
      " \"lists\": [",
      sim::name_of(program.collective), nlohmann::json(heading.algo).dump(),
      nlohmann::json(heading.system).dump(), program.bytes.count(), program.scratch.count(), program.ranks,
      program.channels, program.root, sim::name_of(program.engine), tuning_json(program.tuning));
  const char* comma = "";
  for_lists(program, [&](int rank, int channel, const std::vector<coll::Step>& steps) {
    text += fmt::format("{}\n  {{\"rank\": {}, \"channel\": {}, \"steps\": [", comma, rank, channel);
    for (std::size_t i = 0; i < steps.size(); ++i)
      text += fmt::format("{}\n   {}", i == 0 ? "" : ",", step_json(steps[i]));
    text += "]}";
    comma = ",";
  });
  return text + "]}\n";
}

}  // namespace infold::report
