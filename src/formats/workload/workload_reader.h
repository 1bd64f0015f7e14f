// Walks values and fills them from a tree with places. For files of this room only.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "config/yaml/yaml_tree.h"
#include "formats/workload/workload_fields.h"
#include "sim/result.h"

namespace infold::formats {

/// The first thing that is wrong.
struct WorkloadFault {
  std::optional<config::Position> at = {};
  std::string why = {};
  explicit operator bool() const { return at.has_value(); }
  void set(config::Position where, std::string what) {
    if (at) return;
    at = where;
    why = std::move(what);
  }
};

/// Fills one value; what is wrong is kept in `fault`.
template <class T>
void fill_value(const config::YamlNode& node, std::string_view name, T& value, WorkloadFault& fault);

class WorkloadWalkIn {
 public:
  WorkloadWalkIn(const config::YamlNode& node, std::string_view what, WorkloadFault& fault)
      : node_(node), fault_(fault), used_(node.children.size()) {
    if (node.kind != config::YamlNode::Kind::kMap)
      fault.set(node.at, fmt::format("{}: expected a map, not {}", what, kind_text(node.kind)));
  }

  template <class T>
  void item(const char* name, T& value) {
    if (const config::YamlNode* node = take(name)) {
      fill_value(*node, name, value, fault_);
    } else {
      fault_.set(node_.at, fmt::format("'{}' is missing", name));
    }
  }
  template <class T>
  void field(const char* name, T& value, const std::type_identity_t<T>& usual = {}) {
    const config::YamlNode* node = take(name);
    if (node == nullptr) {
      value = usual;
    } else {
      fill_value(*node, name, value, fault_);
    }
  }
  /// The child of that name, or null. It counts as used.
  const config::YamlNode* take(std::string_view name) {
    known_.push_back(name);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (node_.children[i].key != name) continue;
      used_[i] = true;
      return &node_.children[i];
    }
    return nullptr;
  }
  /// Everything that there is must have been used.
  void finish() {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      const config::YamlNode& child = node_.children[i];
      fault_.set(child.key_at, fmt::format("unknown key {}{}", config::quote(child.key),
                                           config::did_you_mean(child.key, known_)));
    }
  }

 private:
  const config::YamlNode& node_;
  WorkloadFault& fault_;
  std::vector<bool> used_;
  std::vector<std::string_view> known_;
};

template <class T>
void fill_value(const config::YamlNode& node, std::string_view name, T& value, WorkloadFault& fault) {
  using NodeKind = config::YamlNode::Kind;
  if (fault) return;
  if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
    if (node.kind != NodeKind::kList)
      return fault.set(node.at, fmt::format("{}: expected a list, not {}", name, kind_text(node.kind)));
    value.clear();
    value.reserve(node.children.size());
    for (const config::YamlNode& child : node.children) {
      value.emplace_back();
      fill_value(child, name, value.back(), fault);
      if (fault) return;
    }
  } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string> &&
                       !std::is_same_v<T, sim::Time> && !std::is_same_v<T, sim::Bytes>) {
    WorkloadWalkIn walker(node, name, fault);
    walk(walker, value);
    walker.finish();
  } else {
    if (node.kind != NodeKind::kScalar)
      return fault.set(node.at, fmt::format("{}: expected a value, not {}", name, kind_text(node.kind)));
    if constexpr (std::is_same_v<T, std::string>) {
      if (config::has_control_character(node.text))
        return fault.set(node.at, fmt::format("{}: a control character", name));
      value = node.text;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (node.text != "true" && node.text != "false")
        return fault.set(node.at,
                         fmt::format("{}: {} is neither true nor false", name, config::quote(node.text)));
      value = node.text == "true";
    } else if constexpr (std::is_enum_v<T>) {
      std::vector<std::string_view> known;
      for (const auto& named : names_of(T{})) {
        if (named.name == node.text) {
          value = named.value;
          return;
        }
        known.push_back(named.name);
      }
      fault.set(node.at, fmt::format("{}: {} is not one of {}{}", name, config::quote(node.text),
                                     fmt::join(known, ", "), config::did_you_mean(node.text, known)));
    } else if constexpr (std::is_same_v<T, double>) {
      const auto [stop, error] =
          std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
      if (error != std::errc{} || stop != node.text.data() + node.text.size() || !(value >= 0) ||
          value > 1e30)
        fault.set(node.at, fmt::format("{}: {} is not a number from 0 on", name, config::quote(node.text)));
    } else {
      std::int64_t number = 0;
      const auto [stop, error] =
          std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
      std::int64_t least = -1;
      std::int64_t most = kMostWorkBytes;
      if constexpr (std::is_same_v<T, int>) most = 1 << 24;
      if constexpr (std::is_same_v<T, sim::Time>) most = kMostWorkTime;
      if constexpr (std::is_same_v<T, sim::Bytes> || std::is_same_v<T, sim::Time>) least = 0;
      if constexpr (std::is_same_v<T, int>) {
        if (name == "priority") least = -100;
      }
      if (error != std::errc{} || stop != node.text.data() + node.text.size())
        return fault.set(node.at,
                         fmt::format("{}: {} is not a whole number", name, config::quote(node.text)));
      if (number < least || number > most)
        return fault.set(node.at, fmt::format("{}: {} is not between {} and {}", name, number, least, most));
      if constexpr (std::is_same_v<T, sim::Time>) {
        value = sim::Time::ps(number);
      } else {
        value = T(number);
      }
    }
  }
}

/// What "do" says that an operation does; keys of all operations are left alone.
void fill_what(WorkloadWalkIn& walker, const config::YamlNode& node, work::Operation& op,
               WorkloadFault& fault);

/// What work::check leaves open: sizes and members in range, tensors that fit each other. What is wrong has
/// the number of its operation; -1: it is no operation.
struct WorkloadFlaw {
  work::OpId op = -1;
  std::string why;
};
std::optional<WorkloadFlaw> find_workload_flaw(const work::Graph& graph);

}  // namespace infold::formats
