// A visitor that walks to one dotted path and assigns there.
#include "config/yaml/overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "config/unused_parameters.h"
#include "config/yaml/describe.h"
#include "config/yaml/field_text.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "sim/params.h"

namespace infold::config {
namespace {

/// Splits "[5, 4]" or "5,4" into its elements; "[]" has none.
std::vector<std::string_view> elements(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = trimmed(text.substr(1, text.size() - 2));
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    out.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) out.emplace_back();  // a comma at the end announces an element that is missing
  }
  return out;
}

class Setter {
 public:
  Setter(std::string_view path, std::string_view value) : path_(path), value_(value) {}

  template <class T>
  void field(std::string_view name, T& field, const sim::Range<T>& range, std::string_view /*meaning*/) {
    if (is(name)) assigned_ = assign(path_, value_, Dialect::kCommandLine, field, range);
  }
  void field(std::string_view name, std::vector<int>& field, const sim::Range<int>& range,
             std::string_view /*meaning*/) {
    if (is(name)) assigned_ = assign(path_, elements(value_), field, range);
  }
  template <class T>
  requires(sim::NamedEnum<T> || std::is_same_v<T, bool> ||
           std::is_same_v<T, std::string>) void field(std::string_view name, T& field,
                                                      std::string_view /*meaning*/) {
    if (is(name)) assigned_ = assign(path_, value_, field);
  }
  template <class Spec>
  void group(std::string_view name, Spec& spec) {
    const std::string outer = prefix_;
    prefix_ += fmt::format("{}.", name);
    spec.visit(*this);
    prefix_ = outer;
  }

  bool found() const { return found_; }
  const sim::Status& assigned() const { return assigned_; }

 private:
  bool is(std::string_view name) {
    if (path_ != prefix_ + std::string(name)) return false;
    found_ = true;
    return true;
  }

  std::string_view path_;
  std::string_view value_;
  std::string prefix_;
  bool found_ = false;
  sim::Status assigned_;
};

std::string unknown_path(std::string_view path) {
  const std::vector<Parameter> all = parameters(study::SystemSpec{});
  std::vector<std::string_view> paths;
  const std::string group = fmt::format("{}.", path);
  std::vector<std::string_view> inside;  // names inside the group that was given
  for (const Parameter& p : all) {
    paths.emplace_back(p.path);
    if (p.path.starts_with(group)) inside.emplace_back(p.path);
  }
  if (!inside.empty()) {
    return fmt::format("{} is a group of parameters ({})", quote(path), fmt::join(inside, ", "));
  }
  // People often remember only the end of a path: hbm.bandwidth for gpu.hbm.bandwidth.
  const std::string tail = fmt::format(".{}", path);
  const auto same_end = std::find_if(paths.begin(), paths.end(), [&](auto p) { return p.ends_with(tail); });
  if (same_end != paths.end())
    return fmt::format("unknown parameter {} (did you mean '{}'?)", quote(path), *same_end);
  std::string hint = did_you_mean(path, paths);
  if (hint.empty()) hint = " ('infold describe system dgx-a100' lists them)";
  return fmt::format("unknown parameter {}{}", quote(path), hint);
}

}  // namespace

sim::Status apply_override(study::SystemSpec& spec, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view path = trimmed(assignment.substr(0, equals));
  if (equals == std::string_view::npos || path.empty()) {
    return sim::fail(fmt::format("--set: {} is not of the form path=value", quote(assignment)));
  }
  const std::string_view value = trimmed(assignment.substr(equals + 1));
  if (value.empty())
    return sim::fail(
        fmt::format("--set: {}: no value after '='", path.size() > 100 ? path.substr(0, 100) : path));
  Setter setter(path, value);
  spec.visit(setter);
  if (!setter.found()) return sim::fail(fmt::format("--set: {}", unknown_path(path)));
  if (!setter.assigned()) return sim::fail(sim::prefixed("--set", setter.assigned().error()));
  return {};
}

sim::Status apply_overrides(study::SystemSpec& spec, std::span<const std::string> assignments) {
  const net::FabricSpec before = spec.machine.fabric;
  std::vector<std::string_view> paths;
  for (const std::string& assignment : assignments) {
    if (auto applied = apply_override(spec, assignment); !applied) return applied;
    paths.push_back(trimmed(std::string_view(assignment).substr(0, assignment.find('='))));
  }
  if (auto used = check_used(before, spec.machine.fabric, paths); !used)
    return sim::fail(sim::prefixed("--set", used.error()));
  return {};
}

}  // namespace infold::config
