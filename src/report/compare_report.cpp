// The table of compare.
#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/json.h"
#include "report/step_json.h"

namespace infold::report {

std::string compare_text(const CompareReport& report) {
  const auto& rows = report.result.rows;
  const int passes = rows.empty() ? 1 : rows.front().result.passes;
  std::string text = fmt::format("{}, gradients by {}\n\n", title(report.label, passes), report.label.sync);
  text +=
      fmt::format("  {:<12} {:<10} {:>10} {:>10} {:>9} {:>9} {:>10} {:>11} {:>8}\n", "algorithm", "variant",
                  "step", "backward", "slow-down", "exposed", "samples/s", "vs sequent.", "repaired");
  text += fmt::format("  {:<12} {:<10} {:>10} {:>10} {:>9} {:>9}\n", "", "", "(ms)", "(ms)", "(%)", "(ms)");
  const study::CompareRow* best = nullptr;
  for (const study::CompareRow& row : rows) {
    const study::StepResult& r = row.result;
    const bool real = row.variant != study::Variant::kIdeal;
    if (real && (best == nullptr || r.step() < best->result.step())) best = &row;
    text += fmt::format("  {:<12} {:<10} {:>10.3f} {:>10.3f} {:>9.1f} {:>9.3f} {:>10.1f} {:>10.2f}x {:>8}\n",
                        row.variant == study::Variant::kSequential ? name_of(row.method) : "",
                        sim::name_of(row.variant), ms(r.step()), ms(r.backward), r.slowdown() * 100,
                        ms(r.exposed), samples_per_s(report.label, r), row.speedup_vs_sequential,
                        row.repaired && row.variant == study::Variant::kOverlap
                            ? fmt::format("{:.0f} %", *row.repaired * 100)
                            : std::string("-"));
  }
  if (best != nullptr) {
    text += fmt::format("\n  fastest: {}, {} ({:.3f} ms per step)\n", name_of(best->method),
                        sim::name_of(best->variant), ms(best->result.step()));
  }
  text +=
      fmt::format("  repaired: the part of overlapped ring's slow-down of backward ({:.1f} %) that is gone\n",
                  report.result.ring_slowdown * 100);
  std::vector<study::Method> methods;
  methods.reserve(rows.size());
  for (const study::CompareRow& row : rows) methods.push_back(row.method);
  text += hypothetical_text(report.label, methods);
  text += "  ideal: overlapped, with SMs, cache and memory of its own for each\n";
  if (report.wall_s) text += fmt::format("  simulated in {:.2f} s\n", *report.wall_s);
  return text;
}

std::string compare_json(const CompareReport& report) {
  Json rows = Json::array();
  for (const study::CompareRow& row : report.result.rows) {
    StepLabel label = report.label;
    label.method = row.method;
    label.overlap = row.variant != study::Variant::kSequential;
    Json json = {{"variant", sim::name_of(row.variant)}};
    json.update(step_fields(label, row.result));
    json["speedup_vs_sequential"] = rounded(row.speedup_vs_sequential);
    json["repaired"] = row.repaired ? Json(rounded(*row.repaired)) : Json(nullptr);
    rows.push_back(std::move(json));
  }
  Json json = {{"schema", 1},
               {"command", "compare"},
               {"ring_slowdown", rounded(report.result.ring_slowdown)},
               {"rows", rows}};
  if (report.wall_s) json["sim"] = {{"wall_s", *report.wall_s}};
  return json.dump(1) + "\n";
}

}  // namespace infold::report
