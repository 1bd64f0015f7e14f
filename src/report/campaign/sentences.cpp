// Reads the sentences off the cases and windows of a study, and puts the numbers behind each below them.
#include "report/campaign/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/json.h"
#include "report/rounding.h"
#include "study/hypothetical.h"

namespace infold::report {

namespace {

using study::OverlapCaseResult;
using study::StepResult;

/// Less than this is a tie.
constexpr double kTie = 0.005;

std::string_view meaning(study::Cause cause) {
  switch (cause) {
    case study::Cause::kSm:
      return "the SMs it holds";
    case study::Cause::kHbm:
      return "the memory bandwidth it takes";
    case study::Cause::kL2:
      return "the room and bandwidth it takes in L2";
    case study::Cause::kLink:
      return "links";
    case study::Cause::kSkew:
      return "late GPUs it waits for";
    case study::Cause::kWait:
      return "waiting for communication";
    case study::Cause::kCopy:
      return "copying into and out of buffers";
    case study::Cause::kBubble:
      return "waiting for other stages";
    case study::Cause::kInteraction:
      return "these together";
  }
  return "";
}

void add_of_case(const StepLabel& label, const OverlapCaseResult& c, Claim claim,
                 std::vector<Sentence>& out) {
  const auto& first = c.overlap.front();
  Sentence s{.claim = claim, .system = label.system, .algo = name_of(first.method), .unit = "fraction"};
  if (claim == Claim::kThroughput) {
    s.value = c.speedup(*first.result) - 1;
    s.holds = s.value > kTie;
    out.push_back(std::move(s));
  } else if (claim == Claim::kLonger) {
    s.value = c.slowdown();
    s.holds = s.value > kTie;
    const auto most = std::max_element(c.causes.begin(), c.causes.end(),
                                       [](const auto& a, const auto& b) { return a.slowdown < b.slowdown; });
    if (s.holds && most != c.causes.end()) s.because = meaning(most->cause);
    out.push_back(std::move(s));
  } else if (claim == Claim::kRepaired) {
    for (const auto& m : c.overlap) {
      if (!in_network(m.method) || !m.result) continue;
      const auto gone = study::repaired(m.result->slowdown(), c.slowdown());
      if (!gone) continue;
      s.algo = name_of(m.method);
      s.value = *gone;
      s.holds = s.value > kTie;
      s.hypothetical = is_hypothetical(label, m.method);
      out.push_back(s);
    }
  }
}

void add_of_window(const study::SizeWindow& w, const study::SizeWindowResult& r, std::vector<Sentence>& out) {
  const auto& first = *r.times.front().result;
  for (std::size_t m = 1; m < r.times.size(); ++m) {
    const auto& row = r.times[m];
    if (!in_network(row.method) || !row.result) continue;
    Sentence s{.claim = Claim::kWindow,
               .system = w.system->name,
               .algo = name_of(row.method),
               .unit = "times",
               .hypothetical = study::is_hypothetical(w.system->machine.inc.unit, row.method)};
    for (std::size_t i = 0; i < w.sizes.size(); ++i)
      s.value = std::max(s.value, first[i].in_s() / (*row.result)[i].in_s());
    if (const auto wins = r.wins(m)) {
      s.from = w.sizes[wins->first];
      s.to = w.sizes[wins->last];
      s.limited_below = wins->first > 0;
      s.limited_above = wins->last + 1 < w.sizes.size();
      s.holds = s.limited_below || s.limited_above;
    }
    out.push_back(std::move(s));
  }
}

std::string sizes_text(const Sentence& s) {
  if (!s.from) return "at no size";
  if (s.limited_below && s.limited_above)
    return fmt::format("from {} to {}", size_text(*s.from), size_text(*s.to));
  if (s.limited_below) return fmt::format("from {} on", size_text(*s.from));
  if (s.limited_above) return fmt::format("up to {}", size_text(*s.to));
  return fmt::format("at every size from {} to {}", size_text(*s.from), size_text(*s.to));
}

std::string number_text(const Sentence& s) {
  const std::string algo = s.algo + (s.hypothetical ? "*" : "");
  switch (s.claim) {
    case Claim::kThroughput:
      return fmt::format("{:+.1f} %", s.value * 100);
    case Claim::kLonger:
      return fmt::format("{:+.1f} %{}", s.value * 100,
                         s.because.empty() ? "" : fmt::format(", most of it by {}", s.because));
    case Claim::kRepaired:
      return fmt::format("{} {:.0f} %", algo, s.value * 100);
    case Claim::kWindow:
      return fmt::format("{} wins {}", algo, sizes_text(s));
  }
  return {};
}

std::string_view sentence_verdict(std::size_t holding, std::size_t all) {
  if (holding == 0) return "does not hold as simulated";
  return holding == all ? "holds" : "holds in part";
}

/// "1. Overlapping ... raises throughput: holds (r9nano-pcie-4: +9.1 %; hgx-h100: +20.1 %)"
std::string headline(Claim claim, const std::vector<Sentence>& all) {
  std::string said;
  std::string_view system;
  std::size_t count = 0;
  std::size_t holding = 0;
  for (const Sentence& s : all) {
    if (s.claim != claim) continue;
    said += s.system == system ? ", " : fmt::format("{}{}: ", count == 0 ? "" : "; ", s.system);
    said += number_text(s);
    system = s.system;
    ++count;
    holding += s.holds ? 1 : 0;
  }
  const int number = static_cast<int>(claim) + 1;
  if (count == 0) return fmt::format("{}. {}: nothing here says\n", number, sim::name_of(claim));
  return fmt::format("{}. {}: {} ({})\n", number, sim::name_of(claim), sentence_verdict(holding, count),
                     said);
}

std::string step_row(const std::string& name, double backward_ms, const StepResult& r,
                     const std::string& gone, const StepLabel& l, double speedup) {
  return fmt::format("    {:<18} {:>11.3f} {:>8.1f} {:>9} {:>10.3f} {:>11.1f} {:>8.1f}\n", name, backward_ms,
                     r.slowdown() * 100, gone, ms(r.step()), samples_per_s(l, r), (speedup - 1) * 100);
}

/// What is behind the first three sentences.
std::string behind_text(const StepLabel& l, const OverlapCaseResult& c) {
  std::string text =
      fmt::format("  {}\n    {:<18} {:>11} {:>8} {:>9} {:>10} {:>11} {:>8}\n", title(l, c.sequential.passes),
                  "", "backward ms", "slower %", "repaired", "step ms", "samples/s", "gain %");
  text += step_row("sequential", ms(c.sequential.backward), c.sequential, "-", l, 1);
  for (const auto& m : c.overlap) {
    const std::string name =
        fmt::format("beside {}{}", name_of(m.method), is_hypothetical(l, m.method) ? "*" : "");
    if (!m.result) {
      text += fmt::format("    {:<18} not on this machine: {}\n", name, m.refused);
      continue;
    }
    const auto gone = study::repaired(m.result->slowdown(), c.slowdown());
    text += step_row(name, ms(m.result->backward), *m.result,
                     gone && in_network(m.method) ? fmt::format("{:.0f} %", *gone * 100) : "-", l,
                     c.speedup(*m.result));
  }
  std::vector<std::string> parts;
  for (const auto& part : c.causes) {
    if (part.slowdown != 0)
      parts.push_back(fmt::format("{} {:+.1f} %", sim::name_of(part.cause), part.slowdown * 100));
  }
  if (!parts.empty())
    text +=
        fmt::format("    why, beside {}: {}\n", name_of(c.overlap.front().method), fmt::join(parts, ", "));
  return text + "\n";
}

}  // namespace

std::vector<Sentence> sentences_of(const StudyReport& report) {
  std::vector<Sentence> out;
  for (const Claim claim : {Claim::kThroughput, Claim::kLonger, Claim::kRepaired}) {
    for (std::size_t i = 0; i < report.cases.size(); ++i)
      add_of_case(report.cases[i], report.result.cases[i], claim, out);
  }
  for (std::size_t i = 0; i < report.windows.size(); ++i)
    add_of_window(report.windows[i], report.result.windows[i], out);
  return out;
}

std::string sentences_text(const StudyReport& report) {
  const std::vector<Sentence> all = sentences_of(report);
  std::string text;
  for (const auto& claim : kClaims) text += headline(claim.value, all);
  if (std::any_of(all.begin(), all.end(), [](const Sentence& s) { return s.hypothetical; }))
    text += "* hypothetical: the switches of this machine are not built to do this\n";
  text += "\n";
  for (std::size_t i = 0; i < report.cases.size(); ++i)
    text += behind_text(report.cases[i], report.result.cases[i]);
  for (std::size_t i = 0; i < report.windows.size(); ++i)
    text += window_text(report.windows[i], report.result.windows[i]);
  return text +
         "  slower: all of backward against backward alone; gain: samples per second against sequential\n"
         "  why: what the slow-down shrinks by without sharing of SMs, memory or L2, and what is left over\n";
}

Json sentences_json(const StudyReport& report) {
  Json out = Json::array();
  for (const Sentence& s : sentences_of(report)) {
    Json one = {{"claim", sim::name_of(s.claim)},
                {"number", static_cast<int>(s.claim) + 1},
                {"system", s.system},
                {"algo", s.algo},
                {"value", rounded(s.value)},
                {"unit", s.unit},
                {"holds", s.holds},
                {"said", number_text(s)}};
    if (s.claim == Claim::kRepaired || s.claim == Claim::kWindow) one["hypothetical"] = s.hypothetical;
    if (s.from) {
      one["wins_from_bytes"] = s.from->count();
      one["wins_to_bytes"] = s.to->count();
      one["limited_below"] = s.limited_below;
      one["limited_above"] = s.limited_above;
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json flat_windows_json(const StudyReport& report) {
  Json out = Json::array();
  for (std::size_t i = 0; i < report.windows.size(); ++i) {
    const study::SizeWindow& w = report.windows[i];
    const study::SizeWindowResult& r = report.result.windows[i];
    for (std::size_t n = 0; n < w.sizes.size(); ++n) {
      for (std::size_t m = 1; m < r.times.size(); ++m) {
        const auto& row = r.times[m];
        if (!row.result) continue;
        out.push_back({{"system", w.system->name},
                       {"bytes", w.sizes[n].count()},
                       {"ring_us", rounded((*r.times.front().result)[n].in_us())},
                       {"algo", name_of(row.method)},
                       {"us", rounded((*row.result)[n].in_us())},
                       {"hypothetical", study::is_hypothetical(w.system->machine.inc.unit, row.method)},
                       {"simulated", w.is_simulated(w.sizes[n])}});
      }
    }
  }
  return out;
}

}  // namespace infold::report
