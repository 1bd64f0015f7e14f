// The first problem in the order of the file is kept, because later ones are often its consequences.
#include "formats/model/config_keys.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "config/yaml/text.h"

namespace infold::formats {

namespace {

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

ConfigKeys::ConfigKeys(const config::YamlNode& map, std::string file, Notes& notes, const std::string& inside)
    : map_(map), file_(std::move(file)), notes_(notes), inside_(inside.empty() ? "" : inside + ".") {}

const config::YamlNode* ConfigKeys::find(std::string_view name) {
  read_.emplace(name);
  const config::YamlNode* node = map_.find(name);
  return node == nullptr || node->kind == config::YamlNode::Kind::kNull ? nullptr : node;
}

bool ConfigKeys::has(std::string_view name) const {
  const config::YamlNode* node = map_.find(name);
  return node != nullptr && node->kind != config::YamlNode::Kind::kNull;
}

config::Position ConfigKeys::place(std::string_view name) const {
  const config::YamlNode* node = map_.find(name);
  return node == nullptr ? map_.at : node->key_at;
}

void ConfigKeys::complain(config::Position at, std::string why) {
  if (problem_ && config::Position{problem_->place.line, problem_->place.column} <= at) return;
  problem_ = config::at(file_, at, std::move(why));
}

template <class T>
std::optional<T> ConfigKeys::parsed(const config::YamlNode& node, std::string_view name, T least, T most) {
  const auto value = number_in<T>(node.text);
  if (node.kind != config::YamlNode::Kind::kScalar || !value) {
    complain(node.at,
             fmt::format("{}{}: {} is not a {}number", inside_, name,
                         node.kind == config::YamlNode::Kind::kScalar ? config::quote(node.text)
                                                                      : std::string(kind_text(node.kind)),
                         std::is_integral_v<T> ? "whole " : ""));
    return std::nullopt;
  }
  if (!(*value >= least && *value <= most)) {
    complain(node.at, fmt::format("{}{}: {} is not between {} and {}", inside_, name, *value, least, most));
    return std::nullopt;
  }
  return value;
}

int ConfigKeys::need(std::string_view name, int least, int most) {
  const config::YamlNode* node = find(name);
  if (node == nullptr) {
    complain(map_.at, fmt::format("'{}{}' is missing", inside_, name));
    return least;
  }
  return parsed(*node, name, least, most).value_or(least);
}

int ConfigKeys::number(std::string_view name, int least, int most, int otherwise, std::string_view why) {
  if (const config::YamlNode* node = find(name)) return parsed(*node, name, least, most).value_or(least);
  notes_.assumed.push_back(fmt::format("{}{} is {}, {}", inside_, name, otherwise, why));
  return otherwise;
}

double ConfigKeys::real(std::string_view name, double otherwise) {
  const config::YamlNode* node = find(name);
  return node == nullptr ? otherwise : parsed(*node, name, -1e30, 1e30).value_or(otherwise);
}

bool ConfigKeys::flag(std::string_view name, bool otherwise) {
  const config::YamlNode* node = find(name);
  if (node == nullptr) return otherwise;
  if (node->kind == config::YamlNode::Kind::kScalar && (node->text == "true" || node->text == "false"))
    return node->text == "true";
  complain(node->at, fmt::format("{}{}: expected true or false", inside_, name));
  return otherwise;
}

std::string ConfigKeys::word(std::string_view name) {
  const config::YamlNode* node = find(name);
  if (node == nullptr) return {};
  if (node->kind == config::YamlNode::Kind::kScalar) return node->text;
  complain(node->at, fmt::format("{}{}: expected text, not {}", inside_, name, kind_text(node->kind)));
  return {};
}

std::vector<int> ConfigKeys::numbers(std::string_view name, int least, int most) {
  std::vector<int> out;
  const config::YamlNode* node = find(name);
  if (node == nullptr) return out;
  if (node->kind != config::YamlNode::Kind::kList) {
    complain(node->at, fmt::format("{}{}: expected a list, not {}", inside_, name, kind_text(node->kind)));
    return out;
  }
  for (const config::YamlNode& child : node->children) {
    if (const auto value = parsed(child, name, least, most)) out.push_back(*value);
  }
  return out;
}

const config::YamlNode* ConfigKeys::map(std::string_view name) {
  const config::YamlNode* node = find(name);
  if (node == nullptr || node->kind == config::YamlNode::Kind::kMap) return node;
  complain(node->at, fmt::format("{}{}: expected a map, not {}", inside_, name, kind_text(node->kind)));
  return nullptr;
}

void ConfigKeys::finish() {
  for (const config::YamlNode& child : map_.children) {
    if (read_.find(child.key) == read_.end()) notes_.ignored.push_back(inside_ + config::shown(child.key));
  }
}

}  // namespace infold::formats
