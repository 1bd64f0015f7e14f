// Formatting of sweeps.
#include "report/campaign/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/yaml/suggest.h"
#include "report/campaign/sweep_winners.h"

namespace infold::report {

namespace {

using study::PointStatus;

constexpr std::size_t kMostShown = 500;

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string json_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const std::string& text) {
  return json_line(text);
}

std::string_view cell(const SweepTable::Row& row, std::size_t column) {
  return column < row.cells.size() ? std::string_view(row.cells[column]) : "";
}

/// Names of result columns; one that is also varied gets a prefix.
std::vector<std::string> result_names(const SweepReport& r) {
  const std::vector<std::string> varied = r.sweep.columns();
  std::vector<std::string> names;
  for (const auto& c : r.table.columns()) {
    const bool taken = std::ranges::find(varied, c.name) != varied.end();
    names.push_back(taken ? fmt::format("result.{}", c.name) : c.name);
  }
  return names;
}

std::string counts(const SweepReport& r) {
  std::string text = fmt::format("{} points", r.sweep.points());
  for (const PointStatus status : {PointStatus::kRefused, PointStatus::kFailed}) {
    if (const std::size_t n = r.table.count(status); n > 0)
      text += fmt::format(", {} {}", n, study::name_of(status));
  }
  return text;
}

/// The table of the shown columns, each as wide as necessary.
std::string shown_table(const SweepReport& r) {
  struct Line {
    std::vector<std::string> cells;
    std::string message;  // instead of results: the message takes the rest of the line
  };
  std::vector<Line> lines{{r.sweep.columns(), ""}};
  std::vector<std::size_t> show;
  for (const std::string& name : r.sweep.show) {
    show.push_back(*r.table.find(name));
    lines.front().cells.push_back(name);
  }
  for (const SweepTable::Row& row : r.table.rows()) {
    if (lines.size() > kMostShown) break;
    Line& line = lines.emplace_back(Line{r.sweep.values(row.point), ""});
    if (row.status == PointStatus::kRefused) {
      line.message = row.message;
      continue;
    }
    for (const std::size_t c : show) line.cells.push_back(plain(cell(row, c)));
  }
  std::vector<std::size_t> widths(lines.front().cells.size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) widths[i] = std::max(widths[i], line.cells[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i)
      text += fmt::format("  {:>{}}", line.cells[i], widths[i]);
    text += line.message.empty() ? "\n" : fmt::format("  {}\n", line.message);
  }
  if (r.table.rows().size() + 1 > lines.size())
    text += fmt::format("  ... and {} more rows\n", r.table.rows().size() + 1 - lines.size());
  return text;
}

/// The message of the first point that has that status.
std::string first_message(const SweepReport& r, PointStatus status) {
  for (const SweepTable::Row& row : r.table.rows()) {
    if (row.status != status) continue;
    return fmt::format("  {}: point {} ({}): {}\n", study::name_of(status), row.point,
                       fmt::join(r.sweep.words(row.point), " "), row.message);
  }
  return {};
}

}  // namespace

std::optional<NoColumn> find_missing_column(const study::Sweep& sweep, const SweepTable& table,
                                            bool complete) {
  if (table.columns().empty()) return std::nullopt;
  for (std::size_t i = 0; i < sweep.show.size(); ++i) {
    const std::string& name = sweep.show[i];
    if (table.find(name) || (!complete && only_in_some(name))) continue;
    std::vector<std::string_view> known;
    for (const auto& c : table.columns()) known.push_back(c.name);
    return NoColumn{.index = i,
                    .why = fmt::format("show: there is no column '{}' in the results{}", name,
                                       config::did_you_mean(name, known))};
  }
  return std::nullopt;
}

std::string sweep_csv(const SweepReport& r) {
  std::string text = "point";
  for (const std::string& name : r.sweep.columns()) text += fmt::format(",{}", csv_cell(name));
  text += ",status";
  for (const std::string& name : result_names(r)) text += fmt::format(",{}", csv_cell(name));
  text += ",message\n";
  for (const SweepTable::Row& row : r.table.rows()) {
    text += fmt::format("{}", row.point);
    for (const std::string& value : r.sweep.values(row.point)) text += fmt::format(",{}", csv_cell(value));
    text += fmt::format(",{}", study::name_of(row.status));
    for (std::size_t c = 0; c < r.table.columns().size(); ++c)
      text += fmt::format(",{}", csv_cell(plain(cell(row, c))));
    text += fmt::format(",{}\n", csv_cell(row.message));
  }
  return text;
}

std::string sweep_json(const SweepReport& r) {
  // Which columns vary together, so that a reader knows how the points differ.
  nlohmann::json axes = nlohmann::json::array();
  for (const study::SweepAxis& axis : r.sweep.axes) {
    nlohmann::json names = nlohmann::json::array();
    for (const study::SweepColumn& column : axis.columns) names.push_back(column.name);
    axes.push_back(std::move(names));
  }
  std::string text = fmt::format(
      "{{\n \"schema\": 1,\n \"command\": \"sweep\",\n \"name\": {},\n \"summary\": {},\n \"of\": {},\n "
      "\"axes\": {},\n \"show\": {},\n \"winners\": {},\n \"points\": {},\n \"done\": {},\n "
      "\"refused\": {},\n \"failed\": {},\n \"database\": {},\n \"csv\": {},\n \"rows\": [",
      json_text(r.sweep.name), json_text(r.sweep.summary),
      json_text(fmt::format("{}", fmt::join(r.sweep.command, " "))), json_line(axes), json_line(r.sweep.show),
      r.sweep.winners, r.sweep.points(), r.table.count(PointStatus::kDone),
      r.table.count(PointStatus::kRefused), r.table.count(PointStatus::kFailed), json_text(r.database),
      json_text(r.csv));
  const std::vector<std::string> varied = r.sweep.columns();
  const std::vector<std::string> names = result_names(r);
  const char* lead = "\n";
  for (const SweepTable::Row& row : r.table.rows()) {
    text += fmt::format("{}  {{\"point\": {}", lead, row.point);
    const std::vector<std::string> values = r.sweep.values(row.point);
    for (std::size_t i = 0; i < varied.size(); ++i)
      text += fmt::format(", {}: {}", json_text(varied[i]), json_text(values[i]));
    text += fmt::format(", \"status\": \"{}\"", study::name_of(row.status));
    if (!row.message.empty()) text += fmt::format(", \"message\": {}", json_text(row.message));
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (const auto value = cell(row, c); !value.empty())
        text += fmt::format(", {}: {}", json_text(names[c]), value);
    }
    text += "}";
    lead = ",\n";
  }
  return text + "\n ]\n}\n";
}

std::string sweep_text(const SweepReport& r) {
  std::string text = fmt::format("{}: {}\n", r.sweep.name, counts(r));
  if (!r.sweep.summary.empty()) text += fmt::format("{}\n", r.sweep.summary);
  const std::string winners = r.sweep.winners ? winners_text(r) : std::string();
  if (!winners.empty()) {
    text += fmt::format("\n{}\n", winners);
  } else if (!r.sweep.show.empty() && !r.table.columns().empty()) {
    text += fmt::format("\n{}\n", shown_table(r));
  }
  text += first_message(r, PointStatus::kRefused) + first_message(r, PointStatus::kFailed);
  return text + fmt::format("  database: {}\n  CSV: {}\n", r.database, r.csv);
}

}  // namespace infold::report
