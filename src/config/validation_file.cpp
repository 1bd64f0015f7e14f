// Reads the keys of the rows, and checks that they make sense together.
#include "config/validation_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string>

#include "config/shipped_study.h"
#include "config/yaml/limits.h"
#include "config/yaml/overrides.h"
#include "config/yaml/reader.h"
#include "config/yaml/source.h"
#include "config/yaml/units.h"
#include "embedded_validation.h"

namespace infold::config {

namespace {

constexpr std::size_t kLongestText = 1000;
constexpr double kLargest = 1e15;

/// A plain decimal number, in (0, most].
void positive(MapReader& reader, const char* key, double most, double& value, ReadContext& reading) {
  const YamlNode* node = reader.scalar(key);
  if (node == nullptr) return;
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(node->text, &used);
  } catch (const std::exception&) {
    used = std::string::npos;
  }
  if (used != node->text.size() || !(number > 0) || !(number <= most)) {
    reading.complain(node->at, fmt::format("{}: expected a number above 0 and up to {:g}, not {}", key, most,
                                           quote(node->text)));
    return;
  }
  value = number;
}

sim::Place place(const std::string& file, Position at) {
  return {file, at.line, at.column};
}

void read_figure(MapReader& reader, const YamlNode& node, study::CommandFigure& figure,
                 ReadContext& reading) {
  reader.words("run", kLongestText, figure.run);
  reader.words("read", kLongestText, figure.read);
  if (const YamlNode* run = node.find("run")) figure.run_at = place(reading.file, run->at);
  const YamlNode* read = node.find("read");
  if (read == nullptr) return;
  figure.read_at = place(reading.file, read->at);
  if (!figure.read.empty() && figure.read.front() != '/') {
    reading.complain(read->at, fmt::format("read: expected a path such as /results/0/time_us, not {}",
                                           quote(figure.read)));
  }
}

study::ValidationRow read_row(const YamlNode& node, const std::string& path, ReadContext& reading) {
  MapReader reader(node, path, reading);
  study::ValidationRow row;
  reader.words("id", kLongestName, row.id);
  reader.words("quantity", kLongestText, row.quantity);
  reader.words("unit", kLongestName, row.unit);
  positive(reader, "published", kLargest, row.published, reading);
  reader.words("source", kLongestText, row.source);
  read_figure(reader, node, row.figure, reading);
  if (const YamlNode* over = reader.map("over")) {
    MapReader inner(*over, path + ".over", reading);
    row.over.emplace();
    read_figure(inner, *over, *row.over, reading);
    inner.finish();
    need(*over, {"run", "read"}, reading);
  }
  positive(reader, "accept", 100, row.accept, reading);
  reader.words("because", kLongestText, row.because);
  reader.field("calibrated", row.calibrated, "");
  reader.words("missing", kLongestText, row.missing);
  reader.finish();
  need(node, {"id", "quantity", "unit", "published", "source", "run", "read", "accept", "because"}, reading);
  return row;
}

study::CalibratedConstant read_constant(const YamlNode& node, const std::string& path, ReadContext& reading) {
  MapReader reader(node, path, reading);
  study::CalibratedConstant c;
  reader.words("set", kLongestName, c.path);
  reader.words("about", kLongestText, c.about);
  reader.word_list("chosen_on", kLongestName, c.chosen_on);
  reader.words("instead", kLongestName, c.instead);
  reader.finish();
  need(node, {"set", "about"}, reading);
  study::SystemSpec any;  // used only to check whether there is such a number or such a policy
  if (const YamlNode* set = node.find("set"); set != nullptr && !c.path.empty()) {
    const std::string value = c.instead.empty() ? "100%" : c.instead;
    if (const auto applied = apply_override(any, fmt::format("{}={}", c.path, value)); !applied) {
      const std::string& wrong = applied.error().message;
      reading.complain(set->at, wrong.substr(wrong.starts_with("--") ? 2 : 0));
    }
  }
  return c;
}

/// The elements of a list that is not empty; none if the key is absent or wrong.
std::span<const YamlNode> list(const YamlNode* node, std::string_view key, ReadContext& reading) {
  if (node == nullptr) return {};
  if (node->kind != YamlNode::Kind::kList || node->children.empty()) {
    reading.complain(node->key_at, fmt::format("{}: expected a list with at least one element", key));
    return {};
  }
  if (node->children.size() > kMostRows) {
    reading.complain(node->key_at, fmt::format("{}: more than {}", key, kMostRows));
    return {};
  }
  return node->children;
}

sim::Result<study::Validation> read_text(std::string_view text, const std::string& shown) {
  sim::Result<YamlNode> parsed = parse_yaml(text, shown);
  if (!parsed) return sim::fail_as(std::move(parsed));
  const YamlNode& root = *parsed;
  if (auto kind_fits = check_kind(root, "validation", shown); !kind_fits)
    return sim::fail_as(std::move(kind_fits));
  ReadContext reading;
  reading.file = shown;
  MapReader reader(root, "", reading);
  std::string kind;
  reader.words("kind", kLongestName, kind);
  const YamlNode* rows = reader.take("rows");
  const YamlNode* constants = reader.take("constants");
  reader.finish();
  need(root, {"kind", "rows"}, reading);
  study::Validation out;
  std::set<std::string> ids;
  for (const YamlNode& node : list(rows, "rows", reading)) {
    out.rows.push_back(read_row(node, fmt::format("rows[{}]", out.rows.size()), reading));
    if (!ids.insert(out.rows.back().id).second)
      reading.complain(node.at, fmt::format("id: {} is there twice", quote(out.rows.back().id)));
  }
  for (const YamlNode& node : list(constants, "constants", reading))
    out.constants.push_back(read_constant(node, fmt::format("constants[{}]", out.constants.size()), reading));
  if (auto read = reading.status(); !read) return sim::fail_as(std::move(read));
  return out;
}

}  // namespace

sim::Result<study::Validation> built_in_validation() {
  study::Validation all;
  for (const embedded::File& file : embedded::validation()) {
    auto read = read_text(file.text, fmt::format("validation/{}", file.path));
    if (!read) return sim::fail_as(std::move(read));
    std::ranges::move(read->rows, std::back_inserter(all.rows));
    std::ranges::move(read->constants, std::back_inserter(all.constants));
  }
  return all;
}

sim::Result<study::Validation> load_validation(std::string_view file) {
  auto found = read_source(file, kLargestFile);
  if (!found) return sim::fail(at(std::string(file), {}, found.error().message));
  const Source& source = *found;
  return read_text(source.text, source.shown);
}

}  // namespace infold::config
