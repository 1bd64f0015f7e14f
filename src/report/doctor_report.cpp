// The table says for each size how many times longer than expected it took, and marks what is not allowed
// for.
#include "report/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/json.h"
#include "report/rounding.h"

namespace infold::report {

namespace {

using study::Diagnosis;
using study::Verdict;

const study::LossCause& cause_of(const Diagnosis& d, const study::CauseFit& fit) {
  return d.causes[fit.cause];
}
const std::string& degree_of(const Diagnosis& d, const study::CauseFit& fit) {
  return cause_of(d, fit).variants[fit.variant].label;
}

/// The time of a point with the cause that fits best, if causes were tested on its curve.
std::optional<double> with_best_cause(const Diagnosis& d, std::size_t c, std::size_t p) {
  const auto at = std::ranges::find(d.tested, c);
  if (d.fits.empty() || at == d.tested.end()) return std::nullopt;
  return d.fits.front().times[static_cast<std::size_t>(at - d.tested.begin())][p];
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string curve_text(const Diagnosis& d, std::size_t c) {
  const study::ExpectedCurve& curve = d.curves[c];
  const bool caused = with_best_cause(d, c, 0).has_value();
  std::string text =
      fmt::format("\n# {} on {} GPUs, {}: {}\n", sim::name_of(curve.measured.collective), curve.measured.gpus,
                  sim::name_of(curve.measured.type), d.slow[c] ? "slower than expected" : "as expected");
  text += fmt::format("#{:>13} {:>12} {:>12} {:>9} {:>12} {:>8} {:>6}", "size", "measured", "expected",
                      "ratio", "up to", "algo", "proto");
  text += caused ? fmt::format(" {:>12}\n", "best cause") : "\n";
  text += fmt::format("#{:>13} {:>12} {:>12} {:>9} {:>12} {:>8} {:>6}", "(B)", "(us)", "(us)", "", "(us)", "",
                      "");
  text += caused ? fmt::format(" {:>12}\n", "(us)") : "\n";
  for (std::size_t p = 0; p < curve.expected.size(); ++p) {
    const study::MeasuredPoint& point = curve.measured.points[p];
    const study::Choice& choice = curve.offers[curve.choices[p]];
    text += fmt::format("{:>14} {:>12.2f} {:>12.2f} {:>9.2f} {:>12.2f} {:>8} {:>6}", point.bytes.count(),
                        point.us, curve.expected[p], point.us / curve.expected[p], d.allowed[c][p],
                        name_of(choice), sim::name_of(choice.protocol));
    if (caused) text += fmt::format(" {:>12.2f}", *with_best_cause(d, c, p));
    text += point.us > d.allowed[c][p] ? "  slow\n" : "\n";
  }
  return text;
}

std::string verdict_text(const Diagnosis& d) {
  if (d.verdict == Verdict::kAsExpected) {
    return fmt::format(
        "as expected: no slower than the simulated machine, as far as infold is exact; {} off it "
        "on average\n",
        percent(d.fit));
  }
  if (d.verdict == Verdict::kUnclear) {
    std::string text = "unclear: slower than expected, and no cause fits clearly better than the others\n";
    if (!d.fits.empty()) {
      text += fmt::format("nearest is {} ({}), {} off on average\n", cause_of(d, d.fits.front()).id,
                          degree_of(d, d.fits.front()), percent(d.fits.front().fit));
    }
    return text;
  }
  const study::CauseFit& best = d.fits.front();
  std::string text = fmt::format("lost: {} ({})\n", cause_of(d, best).about, degree_of(d, best));
  text += fmt::format("with it the simulated machine is {} off the log on average, without {}",
                      percent(best.fit), percent(d.fit));
  if (d.margin > 0) text += fmt::format("; the next cause is {:.1f} times as far off", d.margin);
  text += "\n";
  for (const std::size_t i : d.same_as) {
    text += fmt::format("this log cannot tell it from: {} ({})\n", cause_of(d, d.fits[i]).about,
                        degree_of(d, d.fits[i]));
  }
  return text + fmt::format("check: {}\n", cause_of(d, best).check);
}

Json row_json(const Diagnosis& d, std::size_t c, std::size_t p) {
  const study::ExpectedCurve& curve = d.curves[c];
  const study::Choice& choice = curve.offers[curve.choices[p]];
  Json row = {{"collective", sim::name_of(curve.measured.collective)},
              {"gpus", curve.measured.gpus},
              {"bytes", curve.measured.points[p].bytes.count()},
              {"measured_us", rounded(curve.measured.points[p].us)},
              {"expected_us", rounded(curve.expected[p])},
              {"allowed_us", rounded(d.allowed[c][p])},
              {"best_cause_us", nullptr},
              {"algo", name_of(choice)},
              {"proto", sim::name_of(choice.protocol)}};
  if (const auto us = with_best_cause(d, c, p)) row["best_cause_us"] = rounded(*us);
  return row;
}

}  // namespace

std::string doctor_text(const DoctorReport& report) {
  const Diagnosis& d = report.diagnosis;
  std::string text = fmt::format("# infold doctor: {} on {}\n", report.log, report.system);
  for (const std::string& note : report.notes) text += fmt::format("# {}\n", note);
  for (std::size_t c = 0; c < d.curves.size(); ++c) text += curve_text(d, c);
  text += "\n" + verdict_text(d);
  if (d.fits.empty()) return text;
  text += "\ncauses, by how far simulated times are off measured ones:\n";
  for (const study::CauseFit& fit : d.fits)
    text += fmt::format("  {:<16} {:>9}  {}\n", cause_of(d, fit).id, percent(fit.fit), degree_of(d, fit));
  return text + fmt::format("  {:<16} {:>9}\n", "(none)", percent(d.fit));
}

std::string doctor_json(const DoctorReport& report) {
  const Diagnosis& d = report.diagnosis;
  Json rows = Json::array();
  for (std::size_t c = 0; c < d.curves.size(); ++c) {
    for (std::size_t p = 0; p < d.curves[c].expected.size(); ++p) rows.push_back(row_json(d, c, p));
  }
  Json causes = Json::array();
  for (const study::CauseFit& fit : d.fits) {
    causes.push_back({{"cause", cause_of(d, fit).id},
                      {"degree", degree_of(d, fit)},
                      {"fit", rounded(fit.fit)},
                      {"about", cause_of(d, fit).about}});
  }
  Json out = {{"schema", 1},
              {"command", "doctor"},
              {"system", report.system},
              {"verdict", sim::name_of(d.verdict)},
              {"cause", nullptr},
              {"same_as", Json::array()},
              {"margin", nullptr},
              {"check", nullptr},
              {"fit", rounded(d.fit)},
              {"notes", report.notes}};
  if (d.verdict == Verdict::kLost) {
    out["cause"] = cause_of(d, d.fits.front()).id;
    out["check"] = cause_of(d, d.fits.front()).check;
    if (d.margin > 0) out["margin"] = rounded(d.margin);
    for (const std::size_t i : d.same_as) out["same_as"].push_back(cause_of(d, d.fits[i]).id);
  }
  out["rows"] = std::move(rows);
  out["causes"] = std::move(causes);
  return out.dump(1) + "\n";
}

}  // namespace infold::report
