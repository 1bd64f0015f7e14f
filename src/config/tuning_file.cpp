// Reads the few keys of the file, with the reader that systems use.
#include "config/tuning_file.h"

#include <fmt/format.h>

#include "config/yaml/limits.h"
#include "config/yaml/reader.h"
#include "config/yaml/source.h"

namespace infold::config {

namespace {

constexpr auto kSizes = sim::between(sim::Bytes{0}, sim::Bytes::gib(1024));

void read_row(const YamlNode& node, int number, study::TuningTable& table, ReadContext& reading) {
  MapReader reader(node, fmt::format("choices[{}]", number), reading);
  study::TuningTable::Row row;
  std::string algorithm;
  reader.field("up_to", row.up_to, kSizes, "");
  reader.words("algo", kLongestName, algorithm);
  reader.field("proto", row.choice.protocol, "");
  reader.finish();
  if (node.kind != YamlNode::Kind::kMap) return;
  need(node, {"up_to", "algo", "proto"}, reading);
  row.choice.algorithm = coll::find_algorithm(algorithm);
  if (const YamlNode* at = node.find("algo"); at != nullptr && row.choice.algorithm == nullptr) {
    std::vector<std::string_view> known;
    for (const auto& a : coll::algorithms()) known.push_back(a.name);
    std::string hint = did_you_mean(algorithm, known);
    if (hint.empty()) hint = fmt::format(" (one of {})", fmt::join(known, ", "));
    reading.complain(at->at, fmt::format("algo: unknown algorithm {}{}", quote(algorithm), hint));
  }
  if (!table.rows.empty() && row.up_to <= table.rows.back().up_to) {
    const YamlNode* at = node.find("up_to");
    reading.complain(at != nullptr ? at->at : node.at, "up_to must be more than in the row before");
  }
  table.rows.push_back(row);
}

}  // namespace

sim::Result<study::TuningTable> load_tuning(std::string_view file) {
  auto found = read_source(file, kLargestFile);
  if (!found) return sim::fail(at(std::string(file), {}, found.error().message));
  const Source& source = *found;
  sim::Result<YamlNode> parsed = parse_yaml(source.text, source.shown);
  if (!parsed) return sim::fail_as(std::move(parsed));
  const YamlNode& root = *parsed;

  ReadContext reading;
  reading.file = source.shown;
  study::TuningTable table;
  MapReader reader(root, "", reading);
  std::string kind;
  reader.words("kind", kLongestName, kind);
  reader.field("collective", table.collective, "");
  reader.words("system", kLongestName, table.system);
  reader.field("gpus", table.gpus, sim::between(1, net::kMostGpus), "");
  const YamlNode* choices = reader.take("choices");
  reader.finish();
  if (root.kind == YamlNode::Kind::kMap) {
    const YamlNode* at = root.find("kind");
    if (at != nullptr && kind != "tuning") {
      reading.complain(at->at, fmt::format("kind: expected tuning, not {}", quote(kind)));
    }
    need(root, {"kind", "collective", "system", "gpus", "choices"}, reading);
  }
  if (choices != nullptr) {
    if (choices->kind != YamlNode::Kind::kList || choices->children.empty()) {
      reading.complain(choices->key_at, "choices: expected a list with at least one row");
    } else if (choices->children.size() > kMostRows) {
      reading.complain(choices->key_at, fmt::format("choices: more than {} rows", kMostRows));
    } else {
      int number = 0;
      for (const YamlNode& row : choices->children) read_row(row, number++, table, reading);
    }
  }
  if (auto read = reading.status(); !read) return sim::fail_as(std::move(read));
  return table;
}

std::string tuning_text(const study::TuningTable& table) {
  std::string text = fmt::format(
      "# The fastest algorithm and protocol by size, as 'infold bench --tune' measured them. A row holds "
      "for\n"
      "# sizes above the row before, up to its own; the last one also beyond.\n"
      "kind: tuning\ncollective: {}\nsystem: {}\ngpus: {}\nchoices:\n",
      sim::name_of(table.collective), table.system, table.gpus);
  for (const auto& row : table.rows) {
    text += fmt::format("  - {{up_to: {}, algo: {}, proto: {}}}\n", format(row.up_to),
                        row.choice.algorithm->name, sim::name_of(row.choice.protocol));
  }
  return text;
}

}  // namespace infold::config
