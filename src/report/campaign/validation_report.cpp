// Formatting of comparisons with published figures.
#include "report/campaign/validation_report.h"
#include "report/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace infold::report {

namespace {

std::string figure(double v) {
  return fmt::format("{:.{}f}", v, v >= 1000 ? 0 : v >= 10 ? 1 : 3);
}
std::string percent(double v) {
  return fmt::format("{:+.1f} %", v * 100);
}
std::string verdict(const std::optional<study::Comparison>& c) {
  return !c ? "failed" : c->within ? "within" : "MISSED";
}
std::string why_missed(const study::ValidationRow& row) {
  return row.missing.empty() ? "not explained" : row.missing;
}
std::string sentence(const ValidationReport& r) {
  const study::ValidationSummary s = study::summary(r.rows, r.comparisons);
  std::string text =
      fmt::format("{} of {} figures within what is accepted; geometric mean of the errors {:.1f} %", s.within,
                  r.rows.size(), s.geomean_abs_error * 100);
  if (const auto failed = r.rows.size() - static_cast<std::size_t>(s.rows); failed > 0)
    text += fmt::format("; {} could not be run", failed);
  return text;
}

}  // namespace

std::string validation_text(const ValidationReport& r) {
  std::size_t widest = 2;
  for (const auto& row : r.rows) widest = std::max(widest, row.id.size());
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:<8}  {:>9}\n", "id", widest, "published",
                                 "simulated", "unit", "error");
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const auto& row = r.rows[i];
    const auto& c = r.comparisons[i];
    text +=
        fmt::format("{:<{}}  {:>10}  {:>10}  {:<8}  {:>9}  {:>7}\n", row.id, widest, figure(row.published),
                    c ? figure(c->simulated) : "-", row.unit, c ? percent(c->error) : "-", verdict(c));
  }
  text += fmt::format("\n{}.\n", sentence(r));
  const char* lead = "Missed, and what is believed to be missing:\n";
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    if (!r.comparisons[i] || r.comparisons[i]->within) continue;
    text += fmt::format("{}  {}: {}\n", lead, r.rows[i].id, why_missed(r.rows[i]));
    lead = "";
  }
  return text;
}

std::string validation_json(const ValidationReport& r) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const auto& row = r.rows[i];
    const auto& c = r.comparisons[i];
    nlohmann::ordered_json j{{"id", row.id},
                             {"source", row.source},
                             {"quantity", row.quantity},
                             {"unit", row.unit},
                             {"published", row.published},
                             {"simulated", nullptr},
                             {"error", nullptr},
                             {"accept", row.accept},
                             {"within", c && c->within},
                             {"calibrated", row.calibrated},
                             {"command", row.figure.run}};
    if (c) {
      j["simulated"] = rounded(c->simulated);
      j["error"] = rounded(c->error);
    }
    if (!row.missing.empty()) j["missing"] = row.missing;
    rows.push_back(std::move(j));
  }
  const study::ValidationSummary s = study::summary(r.rows, r.comparisons);
  const nlohmann::ordered_json out{{"schema", 1},
                                   {"command", "validate"},
                                   {"rows", std::move(rows)},
                                   {"summary",
                                    {{"rows", s.rows},
                                     {"within", s.within},
                                     {"failed", static_cast<int>(r.rows.size()) - s.rows},
                                     {"geomean_abs_error", rounded(s.geomean_abs_error)}}}};
  return out.dump(1) + "\n";
}

namespace {

/// Lists which constants were chosen to fit, on which figures, and which figures then judge them.
std::string constants_markdown(const ValidationReport& r,
                               const std::vector<study::CalibratedConstant>& constants) {
  std::string text =
      "\n## Constants that were calibrated\n\n"
      "All others come from data sheets, papers or microbenchmarks that the presets name. No constant "
      "depends on a "
      "message's\nsize, a model or a system's name (`tests/tools/no_hidden_tuning` looks for it). What each "
      "moves: `infold validate --sensitivity`.\n\n"
      "| constant | what it is | chosen on |\n|---|---|---|\n";
  for (const study::CalibratedConstant& c : constants) {
    std::string ids;
    for (const std::string& id : c.chosen_on) ids += fmt::format("{}`{}`", ids.empty() ? "" : ", ", id);
    text += fmt::format("| `{}` | {} | {} |\n", c.path, c.about,
                        ids.empty() ? "what is said beside it, no row" : ids);
  }
  std::string judges;
  for (const auto& row : r.rows) {
    const auto chosen = [&](const auto& c) {
      return std::ranges::find(c.chosen_on, row.id) != c.chosen_on.end();
    };
    if (!row.calibrated && std::ranges::none_of(constants, chosen))
      judges += fmt::format("{}`{}`", judges.empty() ? "" : ", ", row.id);
  }
  return text + fmt::format("\nThey are judged on the rows that nothing was chosen on: {}.\n",
                            judges.empty() ? "none" : judges);
}

}  // namespace

std::string validation_markdown(const ValidationReport& r,
                                const std::vector<study::CalibratedConstant>& constants) {
  std::string text = fmt::format(
      "# Validation\n\n"
      "Made by `infold validate --markdown > docs/validation.md`; do not edit. The figures, their sources "
      "and the\n"
      "commands are in `validation/`. {}.\n\n"
      "*Calibrated* rows are those that a constant was chosen on; the others judge.\n\n"
      "| figure | published | simulated | error | accepted | |\n|---|---|---|---|---|---|\n",
      sentence(r));
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const auto& row = r.rows[i];
    const auto& c = r.comparisons[i];
    text += fmt::format("| {}, {} | {} | {} | {} | {:.0f} % | {}{} |\n", row.quantity, row.unit,
                        figure(row.published), c ? figure(c->simulated) : "-", c ? percent(c->error) : "-",
                        row.accept * 100, verdict(c), row.calibrated ? ", calibrated" : "");
  }
  text += "\n## What is missed, and why\n\n";
  bool any = false;
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    if (r.comparisons[i] && r.comparisons[i]->within) continue;
    any = true;
    text += fmt::format("- `{}`: {}\n", r.rows[i].id, why_missed(r.rows[i]));
  }
  if (!any) text += "Nothing.\n";
  text += constants_markdown(r, constants);
  text += "\n## Sources, commands and what is accepted\n\n";
  for (const auto& row : r.rows) {
    text += fmt::format("- `{}`: {}. Accepted: {}.\n  `infold {}`{}\n", row.id, row.source, row.because,
                        row.figure.run, row.over ? fmt::format(" over `infold {}`", row.over->run) : "");
  }
  return text;
}

namespace {
/// The relative change of a figure; nothing if there is none, because its command does not have such a
/// constant, or does not accept that value.
std::optional<double> change(const std::optional<study::Comparison>& from,
                             const std::optional<study::Comparison>& to) {
  if (!from || !to || from->simulated == 0) return std::nullopt;
  return to->simulated / from->simulated - 1;
}
constexpr double kWorthTelling = 0.005;
}  // namespace

std::string sensitivity_text(const ValidationReport& r, const std::vector<study::Sensitivity>& moved) {
  std::size_t widest = 2;
  for (const auto& row : r.rows) widest = std::max(widest, row.id.size());
  std::string text =
      "What a figure changes by when a calibrated constant is 10 % smaller or larger, or a policy another; "
      "those below 0.5 % are left out.\n";
  for (const study::Sensitivity& s : moved) {
    const bool policy = !s.constant.instead.empty();
    text += fmt::format("\n{}{}: {}\n", s.constant.path,
                        policy ? fmt::format(" = {} instead", s.constant.instead) : "", s.constant.about);
    int told = 0;
    int without = 0;
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const auto down = change(r.comparisons[i], s.smaller[i]);
      const auto up = change(r.comparisons[i], s.larger[i]);
      if (!down || !up) ++without;
      if (std::abs(down.value_or(0)) < kWorthTelling && std::abs(up.value_or(0)) < kWorthTelling) continue;
      const auto shown = [](const auto& moves) { return moves ? percent(*moves) : std::string("-"); };
      text += fmt::format("  {:<{}}  {:>9}", r.rows[i].id, widest, shown(down));
      text += policy ? "\n" : fmt::format("  {:>9}\n", shown(up));
      ++told;
    }
    if (told == 0) text += "  nothing moves\n";
    if (without > 0) text += fmt::format("  figures that cannot be run with it changed: {}\n", without);
  }
  return text;
}

std::string sensitivity_json(const ValidationReport& r, const std::vector<study::Sensitivity>& moved) {
  const auto moves = [](const std::optional<double>& by) {
    return by ? nlohmann::ordered_json(rounded(*by)) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const study::Sensitivity& s : moved) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      rows.push_back({{"id", r.rows[i].id},
                      {"change_smaller", moves(change(r.comparisons[i], s.smaller[i]))},
                      {"change_larger", moves(change(r.comparisons[i], s.larger[i]))}});
    }
    constants.push_back({{"set", s.constant.path}, {"about", s.constant.about}});
    if (!s.constant.instead.empty()) constants.back()["instead"] = s.constant.instead;
    constants.back()["rows"] = std::move(rows);
  }
  const nlohmann::ordered_json out{
      {"schema", 1}, {"command", "validate"}, {"sensitivity", std::move(constants)}};
  return out.dump(1) + "\n";
}

std::optional<double> number_at(std::string_view json, const std::string& pointer) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return std::nullopt;
  try {
    const nlohmann::json& value = parsed.at(nlohmann::json::json_pointer(pointer));
    if (value.is_number()) return value.get<double>();
  } catch (const nlohmann::json::exception&) {
    // The pointer leads nowhere, so there is no number.
  }
  return std::nullopt;
}

}  // namespace infold::report
