// The step first, then what communication and kernels had to do with it.
#include "report/replay_report.h"

#include <fmt/format.h>

#include "report/json.h"
#include "report/rounding.h"
#include "report/step_use_report.h"

namespace infold::report {

namespace {

double slowdown_of(const study::ReplayResult& r) {
  sim::Time alone;
  sim::Time beside;
  for (const study::KernelUse& k : r.kernels) {
    alone += k.alone;
    beside += k.beside;
  }
  return alone > sim::Time{} ? beside.in_s() / alone.in_s() - 1 : 0;
}

std::string line_of(std::string_view what, sim::Time time, const std::optional<sim::Time>& measured) {
  std::string text = fmt::format("  {:<38} {:>12.3f}", what, ms(time));
  if (measured) text += fmt::format(" {:>12.3f}", ms(*measured));
  return text + "\n";
}

}  // namespace

std::string replay_text(const ReplayReport& report) {
  const study::ReplayResult& r = report.result;
  const auto& m = report.measured;
  const auto of = [&](sim::Time study::TraceMeasured::*member) {
    return m ? std::optional((*m).*member) : std::nullopt;
  };
  std::string text = fmt::format("{} on {} {} of {}: {} operations{}\n\n", report.workload, r.ranks,
                                 report.gpu, report.system, r.operations,
                                 report.communicates ? fmt::format(", {}", name_of(report.method)) : "");
  text += fmt::format("  {:<38} {:>12}{}\n", "", "ms", m ? fmt::format(" {:>12}", "in the trace") : "");
  text += line_of("step", r.step, of(&study::TraceMeasured::step));
  text += line_of("step without communication", r.alone, std::nullopt);
  text += line_of("communication", r.communicating, of(&study::TraceMeasured::communicating));
  text +=
      line_of("communication with no kernel beside it", r.uncovered, of(&study::TraceMeasured::uncovered));
  text += line_of("kernels waited for communication", r.waited, std::nullopt);
  if (!r.communication.empty()) text += fmt::format("\n{}", communication_lines(r.communication));
  if (!r.kernels.empty()) text += fmt::format("\n{}", kernel_lines(r.kernels));
  if (!report.assumed.empty()) {
    text += "\nassumed:\n";
    for (const std::string& one : report.assumed) text += fmt::format("  - {}\n", one);
  }
  return text;
}

std::string replay_json(const ReplayReport& report) {
  const study::ReplayResult& r = report.result;
  Json json = {{"schema", 1},
               {"command", "replay"},
               {"system", report.system},
               {"gpu", report.gpu},
               {"workload", report.workload},
               {"gpus", r.ranks},
               {"algo", report.communicates ? Json(name_of(report.method)) : Json(nullptr)},
               {"engine", report.communicates ? Json(sim::name_of(report.method.engine)) : Json(nullptr)},
               {"operations", r.operations},
               {"step_ms", ms(r.step)},
               {"step_alone_ms", ms(r.alone)},
               {"comm_busy_ms", ms(r.communicating)},
               {"comm_uncovered_ms", ms(r.uncovered)},
               {"exposed_comm_ms", ms(r.waited)},
               {"comm_together_ms", ms(r.together)},
               {"comm_sms", r.sms},
               {"kernel_slowdown", rounded(slowdown_of(r))},
               {"slowest_rank", r.slowest},
               {"burst_bytes", r.burst.count()},
               {"comm", communication_json(r.communication)},
               {"kernels", kernels_json(r.kernels)},
               {"link_bytes", r.link_bytes},
               {"assumed", report.assumed}};
  if (report.measured) {
    json["trace"] = {{"step_ms", ms(report.measured->step)},
                     {"comm_busy_ms", ms(report.measured->communicating)},
                     {"comm_uncovered_ms", ms(report.measured->uncovered)}};
  }
  Json sim = {{"events", r.events}, {"packet_hops", r.packet_hops}};
  if (report.wall_s) sim["wall_s"] = *report.wall_s;
  json["sim"] = sim;
  return json.dump(1) + "\n";
}

}  // namespace infold::report
