// Reads the keys of the file, and checks what is varied as far as this is possible without running a command.
#include "config/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/shipped_study.h"
#include "config/sweep_range.h"
#include "config/yaml/limits.h"
#include "config/yaml/overrides.h"
#include "config/yaml/reader.h"
#include "study/campaign/command_run.h"

namespace infold::config {

namespace {

constexpr std::size_t kLongestCommand = 4096;
constexpr std::size_t kMostColumns = 32;

class AxesReader {
 public:
  AxesReader(SweepFile& file, ReadContext& reading) : file_(file), reading_(reading) {}

  void read(const YamlNode* list) {
    if (list == nullptr) return;
    if (list->kind != YamlNode::Kind::kList || list->children.empty())
      return reading_.complain(list->key_at, "axes: expected a list with at least one entry");
    for (const YamlNode& node : list->children) read_axis(node);
    if (file_.sweep.columns().size() > kMostColumns)
      reading_.complain(list->key_at, fmt::format("axes: more than {} things vary", kMostColumns));
    if (reading_.problems.empty() && file_.sweep.points() > study::Sweep::kMostPoints) {
      reading_.complain(list->key_at, fmt::format("axes: their product is more than the limit of {} points",
                                                  study::Sweep::kMostPoints));
    }
  }

 private:
  void read_axis(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap || node.children.empty()) {
      return reading_.complain(
          node.at, fmt::format("axes: expected what varies and its values ('--algo: [ring, tree]'), not {}",
                               kind_text(node.kind)));
    }
    study::SweepAxis axis;
    for (const YamlNode& column : node.children) read_column(column, axis);
    file_.sweep.axes.push_back(std::move(axis));
  }

  void read_column(const YamlNode& node, study::SweepAxis& axis) {
    study::SweepColumn column{.name = node.key, .values = {}};
    std::vector<Position>& places = file_.value_at[column.name];
    if (!places.empty())
      return reading_.complain(node.key_at, fmt::format("axes: {} is there twice", quote(node.key)));
    if (node.kind == YamlNode::Kind::kMap) {
      read_range(node, column);
      places.assign(std::max<std::size_t>(1, column.values.size()), node.at);
    } else {
      const bool list = node.kind == YamlNode::Kind::kList;
      for (const YamlNode& item :
           list ? std::span<const YamlNode>(node.children) : std::span<const YamlNode>(&node, 1)) {
        read_value(item, column);
        places.push_back(item.at);
      }
    }
    if (column.values.empty()) {
      if (reading_.problems.empty())
        reading_.complain(node.key_at, fmt::format("axes: {} has no values", quote(node.key)));
      column.values.emplace_back();  // so that the rest of the file can be read
    }
    if (!column.is_option()) check_parameter(column, node.key_at, places);
    if (!axis.columns.empty() && axis.size() != column.values.size()) {
      return reading_.complain(node.key_at, fmt::format("axes: {} has {} values and walks together with {}, "
                                                        "which has {}",
                                                        quote(node.key), column.values.size(),
                                                        quote(axis.columns.front().name), axis.size()));
    }
    axis.columns.push_back(std::move(column));
  }

  void read_value(const YamlNode& node, study::SweepColumn& column) {
    std::string text;
    if (node.kind != YamlNode::Kind::kScalar) {
      // An empty value has no position: point at the key instead, where there is one.
      const bool nothing = node.kind == YamlNode::Kind::kNull && node.key_at.line > 0;
      reading_.complain(nothing ? node.key_at : node.at,
                        fmt::format("axes: {}: expected a value, not {}", column.name, kind_text(node.kind)));
    } else if (const auto assigned = assign_words(column.name, node.text, kLongestLine, text); !assigned) {
      reading_.complain(node.at, fmt::format("axes: {}", assigned.error().message));
    }
    column.values.push_back(std::move(text));
  }

  void read_range(const YamlNode& node, study::SweepColumn& column) {
    MapReader reader(node, column.name, reading_);
    std::string from;
    std::string to;
    std::string step;
    std::string factor;
    reader.words("from", kLongestLine, from);
    reader.words("to", kLongestLine, to);
    reader.words("step", kLongestLine, step);
    reader.words("factor", kLongestLine, factor);
    reader.finish();
    need(node, {"from", "to"}, reading_);
    if (node.find("from") == nullptr || node.find("to") == nullptr) return;
    if (step.empty() == factor.empty())
      return reading_.complain(node.at, fmt::format("{}: give either 'step' or 'factor'", column.name));
    auto values = expand_range({from, to, step, factor}, study::Sweep::kMostPoints);
    if (!values)
      return reading_.complain(node.at, fmt::format("{}: {}", column.name, values.error().message));
    column.values = std::move(*values);
  }

  /// The first fault of a column, with its position.
  void check_parameter(const study::SweepColumn& column, Position key_at,
                       const std::vector<Position>& places) {
    for (std::size_t i = 0; i < column.values.size(); ++i) {
      if (column.values[i].empty()) continue;
      study::SystemSpec any;
      const std::string assignment = fmt::format("{}={}", column.name, column.values[i]);
      const auto applied = apply_override(any, assignment);
      if (applied) continue;
      const std::string& wrong = applied.error().message;
      const bool unknown = wrong.starts_with("--set: unknown") || wrong.starts_with("--set: '");
      const std::string option = unknown ? "; options begin with '-'" : "";
      return reading_.complain(unknown ? key_at : places[std::min(i, places.size() - 1)], wrong + option);
    }
  }

  SweepFile& file_;
  ReadContext& reading_;
};

}  // namespace

sim::Result<SweepFile> load_sweep(std::string_view name_or_file) {
  auto opened = open_study(name_or_file, "sweep");
  if (!opened) return sim::fail_as(std::move(opened));
  auto& [source, root, reading] = *opened;
  SweepFile file;
  file.shown = source.shown;
  file.stem = source.stem;
  file.sweep.name = source.stem;
  MapReader reader(root, "", reading);
  std::string kind;
  std::string command;
  reader.words("kind", kLongestLine, kind);
  reader.words("name", kLongestLine, file.sweep.name);
  reader.words("summary", kLongestLine, file.sweep.summary);
  reader.words("command", kLongestCommand, command);
  reader.word_list("show", kLongestLine, file.sweep.show);
  reader.field("winners", file.sweep.winners, "");
  const YamlNode* axes = reader.take("axes");
  reader.finish();
  need(root, {"kind", "command", "axes"}, reading);
  if (const YamlNode* at = root.find("command")) file.command_at = at->at;
  if (const YamlNode* show = root.find("show")) {
    const bool list = show->kind == YamlNode::Kind::kList;
    for (std::size_t i = 0; i < file.sweep.show.size(); ++i)
      file.show_at.push_back(list ? show->children[i].at : show->at);
  }
  file.sweep.command = study::words_of(command);
  AxesReader(file, reading).read(axes);
  if (auto read = reading.status(); !read) return sim::fail_as(std::move(read));
  return file;
}

}  // namespace infold::config
