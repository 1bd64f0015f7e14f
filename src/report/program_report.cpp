// Prints one step per line, in both forms.
#include "report/program_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "config/yaml/describe.h"

namespace infold::report {

namespace {

std::string ranks_text(const coll::Peers& peers) {
  return fmt::format("{}", fmt::join(peers.begin(), peers.end(), ", "));
}

/// A place in memory that a step reads or writes, by its names in text and in JSON.
struct StepOffset {
  bool used;
  std::string_view text;
  std::string_view json;
  sim::Bytes offset;
};
std::array<StepOffset, 4> offsets_of(const coll::Step& s) {
  return {{{s.uses_input, "input", "input", s.input_offset},
           {s.uses_held, "held", "held", s.held_offset},
           {s.writes_output, "output", "output", s.output_offset},
           {s.lands, "into outputs", "put", s.output_offset}}};
}

std::string step_text(const coll::Step& s) {
  std::string text = coll::name_of(s);
  if (s.receives()) text += fmt::format(" from {}", ranks_text(s.from));
  if (s.sends()) text += fmt::format(" to {}", ranks_text(s.to));
  if (s.bytes > sim::Bytes{}) text += fmt::format(", {} B", s.bytes.count());
  for (const StepOffset& o : offsets_of(s)) {
    if (o.used) text += fmt::format(", {} at {}", o.text, o.offset.count());
  }
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
  for (const StepOffset& o : offsets_of(s)) {
    if (o.used) text += fmt::format(", \"{}\": {}", o.json, o.offset.count());
  }
  if (s.landed) text += ", \"landed\": true";
  if (s.finishes) text += ", \"finish\": true";
  if (s.in_network())
    text += fmt::format(", \"net\": \"{}\", \"who\": \"{}\"", sim::name_of(s.net), sim::name_of(s.who));
  if (s.stage > sim::Bytes{}) text += fmt::format(", \"stage\": {}", s.stage.count());
  if (s.stride > sim::Bytes{}) text += fmt::format(", \"stride\": {}", s.stride.count());
  return text + "}";
}

/// What for_protocol() takes from the settings of LL or LL128, or sets for both.
bool is_replaced(std::string_view name) {
  constexpr std::array kReplaced = {"threads", "in_flight_per_thread", "min_bytes_per_thread",
                                    "buffer",  "slice_steps",          "slices_per_chunk"};
  return std::ranges::find(kReplaced, name) != kReplaced.end();
}

/// The settings in force: of the protocols LL and LL128 their own, in a group of that name.
std::string tuning_json(const coll::Tuning& tuning) {
  const bool flagged = tuning.protocol != coll::Protocol::kSimple;
  const std::string group = flagged ? std::string(sim::name_of(tuning.protocol)) + "." : "";
  const auto all = config::parameters(tuning);
  std::string text;
  std::string own;
  const auto add = [](std::string& to, std::string_view name, const std::string& value) {
    to += fmt::format("{}\"{}\": {}", to.empty() ? "" : ", ", name, nlohmann::json(value).dump());
  };
  for (const config::Parameter& p : all) {
    if (flagged && p.path.starts_with(group)) add(own, p.path.substr(group.size()), p.value);
    if (p.path.find('.') != std::string::npos) continue;  // of other protocols
    if (flagged && is_replaced(p.path)) continue;
    add(text, p.path, p.value);
  }
  if (flagged) text += fmt::format(", \"{}\": {{{}}}", sim::name_of(tuning.protocol), own);
  return "{" + text + "}";
}

/// Only programs with LL and LL128 name their protocol.
std::string proto_json(const coll::Tuning& tuning) {
  if (tuning.protocol == coll::Protocol::kSimple) return "";
  return fmt::format(" \"proto\": \"{}\",\n", sim::name_of(tuning.protocol));
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
  std::string text = fmt::format("{} of {} bytes, {}{}{}: {} ranks, {} channels\n",
                                 sim::name_of(program.collective), program.bytes.count(), heading.algo,
                                 program.tuning.protocol == coll::Protocol::kSimple
                                     ? ""
                                     : fmt::format(" with {}", sim::name_of(program.tuning.protocol)),
                                 heading.system.empty() ? "" : fmt::format(" on {}", heading.system),
                                 program.ranks, program.channels);
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
      "{} \"coll\": {},\n"
      " \"lists\": [",
      sim::name_of(program.collective), nlohmann::json(heading.algo).dump(),
      nlohmann::json(heading.system).dump(), program.bytes.count(), program.scratch.count(), program.ranks,
      program.channels, program.root, sim::name_of(program.engine), proto_json(program.tuning),
      tuning_json(program.tuning));
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
