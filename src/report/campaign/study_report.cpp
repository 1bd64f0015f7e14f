// Tables of cases and sizes, and a summary in words.
#include "report/campaign/study_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/campaign/sentences.h"
#include "report/json.h"
#include "report/step_json.h"
#include "study/hypothetical.h"

namespace infold::report {

namespace {

using study::OverlapCaseResult;
using study::SizeWindowResult;
using study::StepResult;

bool has_layout(const StepLabel& l) {
  return l.layout.dp != l.gpus || l.layout.ep > 1 || l.sync != "ddp";
}

std::string short_name(const StepLabel& l) {
  return fmt::format("{} batch {} on {} GPUs of {}{}", l.model, l.batch, l.gpus, l.system,
                     has_layout(l) ? fmt::format(", {}{}", l.sync, layout_text(l.layout)) : std::string());
}

/// The method that gives the shortest step, overlapped; null if none beats sequential.
const study::MethodResult<StepResult>* fastest(const OverlapCaseResult& c) {
  const study::MethodResult<StepResult>* best = nullptr;
  for (const auto& m : c.overlap) {
    if (m.result && (best == nullptr || m.result->step() < best->result->step())) best = &m;
  }
  return best != nullptr && c.speedup(*best->result) > 1 ? best : nullptr;
}

std::string case_row(const StepLabel& l, const OverlapCaseResult& c, const std::string& name,
                     const StepResult& r, bool overlapped) {
  const auto gone = study::repaired(r.slowdown(), c.slowdown());
  return fmt::format("    {:<12} {:>10.3f} {:>9.1f} {:>9.1f} {:>9} {:>10.3f} {:>9.3f} {:>10.1f} {:>9.3f}x\n",
                     name, ms(r.backward), r.slowdown() * 100, r.slowdown_beside() * 100,
                     overlapped && gone ? fmt::format("{:.0f} %", *gone * 100) : std::string("-"),
                     ms(r.step()), ms(r.exposed), samples_per_s(l, r), c.speedup(r));
}

/// Where layouts are compared: both passes, what compute waits for, and idle stages.
std::string layout_row(const StepLabel& l, const OverlapCaseResult& c, const std::string& name,
                       const StepResult& r) {
  const auto gone = study::repaired(r.slowdown(), c.slowdown());
  const double shorter = 1 - r.step().in_s() / c.overlap.front().result->step().in_s();
  return fmt::format(
      "    {:<12} {:>9.1f} {:>9.1f} {:>9} {:>9.3f} {:>9.3f} {:>10.3f} {:>9.1f} {:>9.3f}x {:>+8.1f} %\n", name,
      r.forward_slowdown() * 100, r.slowdown() * 100,
      gone ? fmt::format("{:.0f} %", *gone * 100) : std::string("-"), ms(r.waited), ms(r.bubble),
      ms(r.step()), samples_per_s(l, r), c.speedup(r), shorter * 100);
}

std::string layout_rows(const StepLabel& l, const OverlapCaseResult& c) {
  std::string text =
      fmt::format("    {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9} {:>10} {:>10}\n", "", "forward",
                  "backward", "repaired", "exposed", "bubble", "step", "samples/s", "vs sequ.", "shorter");
  text += layout_row(l, c, "sequential", c.sequential);
  for (const auto& m : c.overlap) {
    text += m.result ? layout_row(l, c, name_of(m.method), *m.result)
                     : fmt::format("    {:<12} not on this machine: {}\n", name_of(m.method), m.refused);
  }
  return text;
}

std::string gradient_rows(const StepLabel& l, const OverlapCaseResult& c) {
  std::string text =
      fmt::format("    {:<12} {:>10} {:>9} {:>9} {:>9} {:>10} {:>9} {:>10} {:>10}\n", "", "backward",
                  "slower", "beside", "repaired", "step", "exposed", "samples/s", "vs sequ.");
  text += case_row(l, c, "sequential", c.sequential, false);
  for (const auto& m : c.overlap) {
    text += m.result ? case_row(l, c, name_of(m.method), *m.result, true)
                     : fmt::format("    {:<12} not on this machine: {}\n", name_of(m.method), m.refused);
  }
  return text;
}

std::string case_text(const StepLabel& l, bool heavy, bool layouts, const OverlapCaseResult& c) {
  std::string text =
      fmt::format("  {}{} [{}]\n    backward alone {:.3f} ms\n", title(l, c.sequential.passes),
                  layouts ? ", " + l.sync : std::string(), heavy ? "communication-heavy" : "compute-heavy",
                  ms(c.sequential.alone.times.backward()));
  text += layouts ? layout_rows(l, c) : gradient_rows(l, c);
  std::vector<study::Method> methods;
  for (const auto& m : c.overlap) methods.push_back(m.method);
  if (const std::string unreal = hypothetical_text(l, methods); !unreal.empty()) text += "  " + unreal;
  const auto* best = fastest(c);
  text += best != nullptr ? fmt::format("    fastest: overlapped {}\n", name_of(best->method))
                          : std::string("    fastest: sequential\n");
  return text + "\n";
}

std::string summary_text(const StudyReport& report) {
  const auto& cases = report.result.cases;
  const std::string first = name_of(cases.front().overlap.front().method);
  std::string text =
      fmt::format("  while {} runs beside it, backward is {:.1f} % slower on the mean over these cases\n",
                  first, report.result.mean_slowdown_beside() * 100);
  std::vector<std::string> worse;
  std::vector<std::string> no_gain;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const StepResult& ring = *cases[i].overlap.front().result;
    if (cases[i].speedup(ring) <= 1) worse.push_back(short_name(report.cases[i]));
    const auto* best = fastest(cases[i]);
    if (best == nullptr || ring.step().in_s() / best->result->step().in_s() < 1.01)
      no_gain.push_back(short_name(report.cases[i]));
  }
  text += worse.empty()
              ? fmt::format("  overlapping with {} pays in every case\n", first)
              : fmt::format("  overlapping with {} does not pay: {}\n", first, fmt::join(worse, "; "));
  if (!no_gain.empty())
    text +=
        fmt::format("  another algorithm gains less than 1 % of the step: {}\n", fmt::join(no_gain, "; "));
  return text;
}

}  // namespace

std::string size_text(sim::Bytes n) {
  const std::int64_t b = n.count();
  if (b >= 1 << 30) return fmt::format("{} GiB", b >> 30);
  if (b >= 1 << 20) return fmt::format("{} MiB", b >> 20);
  return fmt::format("{} KiB", b >> 10);
}

std::string window_text(const study::SizeWindow& w, const SizeWindowResult& r) {
  std::string text = fmt::format(
      "  all-reduce by size on {} GPUs of {}: {}'s time over each one's ('*': it wins)\n    {:>10} {:>12}",
      w.gpus, w.system->name, name_of(r.times.front().method), "size",
      fmt::format("{} us", name_of(r.times.front().method)));
  for (std::size_t m = 1; m < r.times.size(); ++m)
    if (r.times[m].result) text += fmt::format(" {:>11}", name_of(r.times[m].method));
  text += "\n";
  for (std::size_t i = 0; i < w.sizes.size(); ++i) {
    const sim::Time first = (*r.times.front().result)[i];
    text += fmt::format("    {:>10} {:>12.2f}",
                        fmt::format("{}{}", w.is_simulated(w.sizes[i]) ? "" : "~", size_text(w.sizes[i])),
                        first.in_us());
    for (std::size_t m = 1; m < r.times.size(); ++m) {
      if (!r.times[m].result) continue;
      const double speedup = first.in_s() / (*r.times[m].result)[i].in_s();
      text += fmt::format(" {:>10.2f}{}", speedup, speedup > 1 ? '*' : ' ');
    }
    text += "\n";
  }
  if (!w.is_simulated(w.sizes.back()))
    text += fmt::format(
        "    ~ what switches reduce is not simulated: on the line through the times of {} and half of it\n",
        size_text(w.simulate_to));
  for (std::size_t m = 1; m < r.times.size(); ++m) {
    const auto& row = r.times[m];
    if (!row.result) {
      text += fmt::format("    {} not on this machine: {}\n", name_of(row.method), row.refused);
    } else if (const auto wins = r.wins(m)) {
      text += fmt::format("    {} wins from {} to {}\n", name_of(row.method), size_text(w.sizes[wins->first]),
                          size_text(w.sizes[wins->last]));
    } else {
      text += fmt::format("    {} wins nowhere\n", name_of(row.method));
    }
    if (study::is_hypothetical(w.system->machine.inc.unit, row.method))
      text +=
          fmt::format("    {} is hypothetical: its switches are not built to do this\n", name_of(row.method));
  }
  return text + "\n";
}

std::string study_text(const StudyReport& report) {
  std::string text = fmt::format("{}: {}\n\n", report.name, report.summary);
  if (report.sentences) {
    text += sentences_text(report);
    if (report.wall_s) text += fmt::format("  simulated in {:.1f} s\n", *report.wall_s);
    return text;
  }
  const bool layouts = std::ranges::any_of(report.cases, has_layout);
  for (std::size_t i = 0; i < report.cases.size(); ++i)
    text += case_text(report.cases[i], report.heavy[i], layouts, report.result.cases[i]);
  for (std::size_t i = 0; i < report.windows.size(); ++i)
    text += window_text(report.windows[i], report.result.windows[i]);
  if (!report.cases.empty()) text += summary_text(report);
  text += layouts
              ? "  forward, backward: percent longer than alone; times in ms; exposed: compute waits for it\n"
                "  shorter: the step, against that of the first algorithm\n"
              : "  slower, beside: percent, of all of backward and of the part beside a collective; times in "
                "ms\n";
  text += "  repaired: the part of the first algorithm's slow-down that is gone\n";
  if (report.wall_s) text += fmt::format("  simulated in {:.1f} s\n", *report.wall_s);
  return text;
}

std::string study_json(const StudyReport& report) {
  Json cases = Json::array();
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const OverlapCaseResult& c = report.result.cases[i];
    Json rows = Json::array();
    const auto add = [&](const char* variant, const study::Method& method, const StepResult& r) {
      StepLabel label = report.cases[i];
      label.method = method;
      label.overlap = std::string_view(variant) == "overlap";
      Json row = {{"variant", variant}};
      row.update(step_fields(label, r));
      row.erase("buckets");
      row["speedup_vs_sequential"] = rounded(c.speedup(r));
      const auto gone = study::repaired(r.slowdown(), c.slowdown());
      row["repaired"] = gone ? Json(rounded(*gone)) : Json(nullptr);
      row["shorter_than_first"] = rounded(1 - r.step().in_s() / c.overlap.front().result->step().in_s());
      rows.push_back(std::move(row));
    };
    add("sequential", c.overlap.front().method, c.sequential);
    Json refused = Json::array();
    for (const auto& m : c.overlap) {
      if (m.result) {
        add("overlap", m.method, *m.result);
      } else {
        refused.push_back({{"method", name_of(m.method)}, {"why", m.refused}});
      }
    }
    const auto* best = fastest(c);
    cases.push_back({{"communication_heavy", static_cast<bool>(report.heavy[i])},
                     {"fastest", best != nullptr ? name_of(best->method) : std::string("sequential")},
                     {"rows", rows},
                     {"refused", refused}});
    if (c.causes.empty()) continue;
    Json causes = Json::array();
    for (const auto& part : c.causes)
      causes.push_back({{"cause", sim::name_of(part.cause)}, {"slowdown", part.slowdown}});
    cases.back()["causes"] = std::move(causes);
  }
  Json windows = Json::array();
  for (std::size_t i = 0; i < report.windows.size(); ++i) {
    const study::SizeWindow& w = report.windows[i];
    const SizeWindowResult& r = report.result.windows[i];
    Json methods = Json::array();
    for (std::size_t m = 0; m < r.times.size(); ++m) {
      if (!r.times[m].result) continue;
      Json times = Json::array();
      for (const sim::Time t : *r.times[m].result) times.push_back(rounded(t.in_us()));
      Json row = {{"method", name_of(r.times[m].method)}, {"time_us", times}};
      if (const study::Method& method = r.times[m].method; in_network(method))
        row["hypothetical"] = study::is_hypothetical(w.system->machine.inc.unit, method);
      if (const auto wins = r.wins(m); wins && m > 0) {
        row["wins_from_bytes"] = w.sizes[wins->first].count();
        row["wins_to_bytes"] = w.sizes[wins->last].count();
      }
      methods.push_back(std::move(row));
    }
    Json sizes = Json::array();
    for (const sim::Bytes n : w.sizes) sizes.push_back(n.count());
    windows.push_back({{"system", w.system->name}, {"gpus", w.gpus}, {"bytes", sizes}, {"methods", methods}});
    if (!w.is_simulated(w.sizes.back())) windows.back()["simulated_to_bytes"] = w.simulate_to.count();
  }
  Json json = {{"schema", 1},
               {"command", "study"},
               {"study", report.name},
               {"summary", report.summary},
               {"mean_slowdown_while_communicating", rounded(report.result.mean_slowdown_beside())},
               {"cases", cases},
               {"windows", windows}};
  if (report.sentences) {
    json["sentences"] = sentences_json(report);
    json["window"] = flat_windows_json(report);
  }
  if (report.wall_s) json["sim"] = {{"wall_s", *report.wall_s}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report
