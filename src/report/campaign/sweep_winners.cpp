// Groups the rows of a sweep that differ in nothing but their algorithm.
#include "report/campaign/sweep_winners.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "report/campaign/study_report.h"

namespace infold::report {

namespace {

struct MapCell {
  std::string fastest;
  double us = 0;
  std::optional<double> ring_us;
};
/// The settings of one line, without the algorithm, and its cells by size.
struct MapLine {
  std::vector<std::string> setting;
  std::map<std::int64_t, MapCell> cells;
};

std::string text_in(const SweepTable::Row& row, std::optional<std::size_t> column) {
  return column && *column < row.cells.size() ? plain(row.cells[*column]) : std::string();
}

template <class Number>
Number number_of(const std::string& text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void note_time(MapCell& cell, const std::string& algo, double us) {
  if (algo == "ring") cell.ring_us = us;
  if (!cell.fastest.empty() && cell.us <= us) return;
  cell.fastest = algo;
  cell.us = us;
}

std::string cell_text(const MapCell& cell) {
  if (!cell.ring_us || cell.fastest == "ring") return cell.fastest;
  return fmt::format("{} {:.2f}", cell.fastest, *cell.ring_us / cell.us);
}

std::vector<MapLine> lines_of(const SweepReport& r, const std::vector<std::size_t>& kept) {
  std::vector<MapLine> lines;
  std::map<std::vector<std::string>, std::size_t> known;
  const auto algo = r.table.find("algo");
  const auto bytes = r.table.find("bytes");
  const auto time = r.table.find("time_us");
  for (const SweepTable::Row& row : r.table.rows()) {
    const std::string name = text_in(row, algo);
    const std::string us = text_in(row, time);
    if (name.empty() || us.empty()) continue;
    const std::vector<std::string> values = r.sweep.values(row.point);
    std::vector<std::string> setting;
    setting.reserve(kept.size());
    for (const std::size_t i : kept) setting.push_back(values[i].empty() ? "-" : values[i]);
    const auto [at, fresh] = known.emplace(setting, lines.size());
    if (fresh) lines.push_back({.setting = std::move(setting), .cells = {}});
    note_time(lines[at->second].cells[number_of<std::int64_t>(text_in(row, bytes))], name,
              number_of<double>(us));
  }
  return lines;
}

}  // namespace

std::string winners_text(const SweepReport& r) {
  const std::vector<std::string> varied = r.sweep.columns();
  std::vector<std::size_t> kept;
  std::vector<std::vector<std::string>> table(1);
  for (std::size_t i = 0; i < varied.size(); ++i) {
    if (varied[i] == "--algo") continue;
    kept.push_back(i);
    table.front().push_back(varied[i]);
  }
  const std::vector<MapLine> lines = lines_of(r, kept);
  if (lines.empty()) return {};
  std::set<std::int64_t> sizes;
  for (const MapLine& line : lines) {
    for (const auto& [bytes, cell] : line.cells) sizes.insert(bytes);
  }
  for (const std::int64_t bytes : sizes) table.front().push_back(size_text(sim::Bytes(bytes)));
  for (const MapLine& line : lines) {
    std::vector<std::string> cells = line.setting;
    for (const std::int64_t bytes : sizes) {
      const auto cell = line.cells.find(bytes);
      cells.push_back(cell == line.cells.end() ? "-" : cell_text(cell->second));
    }
    table.push_back(std::move(cells));
  }
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& line : table) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text = "the fastest by size, and how many times as fast as ring it is:\n";
  for (const auto& line : table) {
    for (std::size_t i = 0; i < line.size(); ++i) text += fmt::format("  {:>{}}", line[i], widths[i]);
    text += "\n";
  }
  return text;
}

}  // namespace infold::report
