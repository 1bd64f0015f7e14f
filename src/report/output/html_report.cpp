// The page that web/ builds, with the data inserted.
#include "report/output/html_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "embedded_page.h"
#include "sim/check.h"

namespace infold::report {

namespace {

using Json = nlohmann::ordered_json;

/// A command line need not be UTF-8, but JSON must be.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json parameters_of(const PageSystem& system) {
  Json rows = Json::array();
  for (const config::Parameter& p : system.parameters)
    rows.push_back({{"path", p.path}, {"value", p.value}, {"meaning", p.meaning}});
  return rows;
}

Json machine_of(const PageMachine& machine) {
  Json links = Json::array();
  const auto rounded = [](double share) { return std::round(share * 1e4) / 1e4; };
  for (const study::LinkUse& l : machine.use.links)
    links.push_back({l.from, l.to, l.cables, rounded(l.mean), rounded(l.busiest)});
  return {{"label", machine.label},
          {"bytes", machine.bytes},
          {"gpus", machine.use.gpus},
          {"nodes", machine.use.nodes},
          {"links", links}};
}

Json published_of(const PagePublished& p) {
  return {{"system", p.system},
          {"algo", p.algo},
          {"bytes", p.bytes},
          {"time_us", p.time_us},
          {"source", p.source}};
}

/// Four digits are more than a chart shows.
Json numbers_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(std::stod(fmt::format("{:.5g}", v)));
  return list;
}

Json counters_json(const PageCounters& run) {
  Json lines = Json::array();
  for (const PageCounter& c : run.counters)
    lines.push_back({{"name", c.name},
                     {"unit", c.unit},
                     {"at_ms", numbers_of(c.at_ms)},
                     {"values", numbers_of(c.values)}});
  return {{"row", run.row}, {"gpu", run.gpu}, {"lines", lines}};
}

/// A file of web/built.
std::string_view part(std::string_view path) {
  for (const embedded::File& file : embedded::page())
    if (file.path == path) return file.text;
  INFOLD_CHECK(false, "the page has all its parts");
  return {};
}

std::string fill(std::string text, std::string_view place, std::string_view with) {
  const std::size_t at = text.find(place);
  INFOLD_CHECK(at != std::string::npos, "the page has a place for each of its parts");
  return text.replace(at, place.size(), with);
}

}  // namespace

std::string inside_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  // Outside of strings JSON has no '<', and inside it can be written as an escape.
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string html_page(const Page& page) {
  Json systems = Json::array();
  for (const PageSystem& s : page.systems)
    systems.push_back({{"name", s.name}, {"summary", s.summary}, {"parameters", parameters_of(s)}});
  Json machines = Json::array();
  for (const PageMachine& m : page.machines) machines.push_back(machine_of(m));
  Json published = Json::array();
  for (const PagePublished& p : page.published) published.push_back(published_of(p));
  Json counters = Json::array();
  for (const PageCounters& c : page.counters) counters.push_back(counters_json(c));
  const std::string data = fmt::format(
      R"({{"infold":{},"typed":{},"systems":{},"machines":{},"published":{},"counters":{},"history":{},"result":{}}})",
      text_of(page.version), text_of(page.typed), text_of(systems), text_of(machines), text_of(published),
      text_of(counters), page.history, page.result);
  return fill(fill(std::string(part("page.html")), "@@charts@@", part("charts.js")), "@@data@@",
              inside_script(data));
}

}  // namespace infold::report
