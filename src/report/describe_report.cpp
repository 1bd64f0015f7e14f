// Aligned text and JSON of descriptions.
#include "report/describe_report.h"
#include "report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace infold::report {

namespace {

template <class Rows, class Text>
std::size_t widest(const Rows& rows, Text text) {
  std::size_t width = 0;
  for (const auto& r : rows) width = std::max(width, text(r).size());
  return width;
}

std::string range_text(const config::Parameter& p) {
  return p.min.empty() ? std::string() : fmt::format(" ({} to {})", p.min, p.max);
}

/// A row per size of the table: gates of each part in thousands, and memory.
std::string area_text(const Description& d) {
  if (d.areas.empty()) return {};
  std::string text = fmt::format("\n{}\n  {:>11}", d.areas_of, "table bytes");
  for (const auto& part : d.areas.front().second.parts) text += fmt::format("  {:>9}", part.name);
  text += fmt::format("  {:>9}  {:>10}\n", "k gates", "SRAM bytes");
  for (const auto& [bytes, area] : d.areas) {
    text += fmt::format("  {:>11}", bytes.count());
    for (const auto& part : area.parts) text += fmt::format("  {:>9.1f}", part.gates / 1000);
    text += fmt::format("  {:>9.1f}  {:>10}\n", area.gates() / 1000, area.sram().count());
  }
  return text;
}

Json area_json(const Description& d) {
  Json rows = Json::array();
  for (const auto& [bytes, area] : d.areas) {
    Json parts = Json::object();
    for (const auto& part : area.parts) parts[std::string(part.name)] = std::llround(part.gates);
    rows.push_back({{"table_bytes", bytes.count()},
                    {"gates", std::llround(area.gates())},
                    {"sram_bytes", area.sram().count()},
                    {"gates_by_part", parts}});
  }
  return rows;
}
}  // namespace

std::string list_text(const std::vector<Entry>& entries) {
  const std::size_t width = widest(entries, [](const Entry& e) { return e.name; });
  std::string text;
  for (const Entry& e : entries) text += fmt::format("{:<{}}  {}\n", e.name, width, e.about);
  return text;
}

std::string list_json(const std::string& what, const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& e : entries) list.push_back({{"name", e.name}, {"about", e.about}});
  return Json{{"schema", 1}, {"command", "list"}, {"what", what}, {"entries", list}}.dump(1) + "\n";
}

std::string description_text(const Description& d) {
  std::string text = fmt::format("{} {}: {}\n", d.kind, d.name, d.about);
  if (!d.parts.empty()) text += fmt::format("made of: {}\n", fmt::join(d.parts, ", "));
  if (!d.parameters.empty()) text += "\n";
  const std::size_t path = widest(d.parameters, [](const auto& p) { return p.path; });
  const std::size_t value = widest(d.parameters, [](const auto& p) { return p.value; });
  for (const config::Parameter& p : d.parameters) {
    text += fmt::format("  {:<{}}  {:<{}}  {}{}\n", p.path, path, p.value, value, p.meaning, range_text(p));
    for (const config::Choice& c : p.choices) {
      text += fmt::format("  {:<{}}  {:<{}}    {}: {}\n", "", path, "", value, c.name, c.meaning);
    }
  }
  text += area_text(d);
  if (!d.sources.empty()) text += "\nsources:\n";
  for (const std::string& s : d.sources) text += fmt::format("  - {}\n", s);
  return text;
}

std::string description_json(const Description& d) {
  Json parameters = Json::array();
  for (const config::Parameter& p : d.parameters) {
    Json row = {{"path", p.path}, {"type", p.type}, {"value", p.value}, {"meaning", p.meaning}};
    if (!p.min.empty()) row["min"] = p.min;
    if (!p.max.empty()) row["max"] = p.max;
    for (const config::Choice& c : p.choices)
      row["choices"].push_back({{"name", c.name}, {"meaning", c.meaning}});
    parameters.push_back(std::move(row));
  }
  Json all = {{"schema", 1},          {"command", "describe"},   {"kind", d.kind},
              {"name", d.name},       {"about", d.about},        {"components", d.parts},
              {"sources", d.sources}, {"parameters", parameters}};
  if (!d.areas.empty()) all["area"] = area_json(d);
  return all.dump(1) + "\n";
}

}  // namespace infold::report
