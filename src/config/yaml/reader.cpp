// The parts of the reader that do not depend on the spec's type.
#include "config/yaml/reader.h"

#include <algorithm>
#include <tuple>

namespace infold::config {

MapReader::MapReader(const YamlNode& map, std::string path, ReadContext& reading)
    : map_(map), path_(std::move(path)), reading_(reading) {
  if (map_.kind == YamlNode::Kind::kMap) return;
  const std::string what = path_.empty() ? "the file" : path_;
  // An empty value has no position: point at the key instead.
  const bool nothing = map_.kind == YamlNode::Kind::kNull;
  reading_.complain(nothing ? map_.key_at : map_.at,
                    fmt::format("{}: expected a map (key: value), not {}", what, kind_text(map_.kind)));
}

const YamlNode* MapReader::take(std::string_view name) {
  known_.push_back(name);
  const YamlNode* node = map_.find(name);
  if (node != nullptr) reading_.keys[path_of(name)] = node->key_at;
  return node;
}

const YamlNode* MapReader::scalar(std::string_view name) {
  const YamlNode* node = take(name);
  if (node == nullptr || node->kind == YamlNode::Kind::kScalar) return node;
  if (node->kind == YamlNode::Kind::kNull) {
    reading_.complain(node->key_at, fmt::format("{} has no value", name));
  } else {
    reading_.complain(node->at, fmt::format("{}: expected one value, not {}", name, kind_text(node->kind)));
  }
  return nullptr;
}

const YamlNode* MapReader::map(std::string_view name) {
  const YamlNode* node = take(name);
  if (node == nullptr || node->kind == YamlNode::Kind::kMap) return node;
  const bool nothing = node->kind == YamlNode::Kind::kNull;
  reading_.complain(nothing ? node->key_at : node->at,
                    fmt::format("{}: expected a map (key: value), not {}", name, kind_text(node->kind)));
  return nullptr;
}

sim::Status MapReader::evaluated(std::string_view name, std::string_view text, int& value,
                                 const sim::Range<int>& range) {
  const auto parsed = reading_.evaluate(text);
  if (!parsed) return sim::fail(sim::prefixed(name, parsed.error()));
  if (*parsed < range.min || *parsed > range.max)
    return sim::fail(
        fmt::format("{} must be between {} and {}, not {}", name, range.min, range.max, *parsed));
  value = static_cast<int>(*parsed);
  return {};
}

void MapReader::field(std::string_view name, std::vector<int>& value, const sim::Range<int>& range,
                      std::string_view /*meaning*/) {
  const YamlNode* node = take(name);
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::kNull)
    return reading_.complain(node->key_at, fmt::format("{} has no value", name));
  if (node->kind == YamlNode::Kind::kMap) {
    return reading_.complain(node->at,
                             fmt::format("{}: expected a number or a list of numbers, not a map", name));
  }
  std::vector<int> values;
  const bool list = node->kind == YamlNode::Kind::kList;
  for (const YamlNode& item :
       list ? std::span<const YamlNode>(node->children) : std::span<const YamlNode>(node, 1)) {
    if (item.kind != YamlNode::Kind::kScalar) {
      return reading_.complain(
          item.at, fmt::format("{}: expected a whole number, not {}", name, kind_text(item.kind)));
    }
    int number = 0;
    const auto assigned = assign(name, item.text, Dialect::kFile, number, range);
    if (!assigned) return report(item, assigned);
    values.push_back(number);
  }
  value = std::move(values);
}

void MapReader::words(std::string_view name, std::size_t longest, std::string& value) {
  if (const YamlNode* node = scalar(name)) report(*node, assign_words(name, node->text, longest, value));
}

void MapReader::word_list(std::string_view name, std::size_t longest, std::vector<std::string>& value) {
  const YamlNode* node = take(name);
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::kNull)
    return reading_.complain(node->key_at, fmt::format("{} has no value", name));
  if (node->kind == YamlNode::Kind::kMap) {
    return reading_.complain(node->at, fmt::format("{}: expected a list of texts, not a map", name));
  }
  std::vector<std::string> texts;
  const bool list = node->kind == YamlNode::Kind::kList;
  for (const YamlNode& item :
       list ? std::span<const YamlNode>(node->children) : std::span<const YamlNode>(node, 1)) {
    if (item.kind != YamlNode::Kind::kScalar) {
      return reading_.complain(item.at, fmt::format("{}: expected text, not {}", name, kind_text(item.kind)));
    }
    std::string text;
    const auto assigned = assign_words(name, item.text, longest, text);
    if (!assigned) return report(item, assigned);
    texts.push_back(std::move(text));
  }
  value = std::move(texts);
}

void MapReader::finish() {
  if (map_.kind != YamlNode::Kind::kMap) return;
  for (const YamlNode& child : map_.children) {
    if (std::find(known_.begin(), known_.end(), child.key) != known_.end()) continue;
    std::string hint = did_you_mean(child.key, known_);
    if (hint.empty()) hint = fmt::format(" (keys here: {})", fmt::join(known_, ", "));
    const std::string where = path_.empty() ? "" : " in " + path_;
    reading_.complain(child.key_at, fmt::format("unknown key {}{}{}", quote(child.key), where, hint));
  }
}

void need(const YamlNode& map, std::initializer_list<std::string_view> keys, ReadContext& reading) {
  if (map.kind != YamlNode::Kind::kMap) return;
  for (const std::string_view key : keys) {
    if (map.find(key) == nullptr) reading.complain(map.at, fmt::format("missing key '{}'", key));
  }
}

sim::Status ReadContext::status() const {
  const auto earlier = [](const sim::Error& a, const sim::Error& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  };
  const auto it = std::min_element(problems.begin(), problems.end(), earlier);
  if (it == problems.end()) return {};
  return sim::fail(*it);
}

}  // namespace infold::config
