// A visitor that records what it is shown.
#include "config/yaml/describe.h"

#include <type_traits>
#include <utility>

#include "config/yaml/field_text.h"
#include "config/yaml/suggest.h"
#include "config/yaml/units.h"
#include "sim/params.h"

namespace infold::config {
namespace {

std::string type_of(const int&) {
  return "integer";
}
std::string type_of(const sim::Time&) {
  return "time";
}
std::string type_of(const sim::Bytes&) {
  return "size";
}
std::string type_of(const sim::Bandwidth&) {
  return "rate";
}
std::string type_of(const sim::Frequency&) {
  return "frequency";
}

class Describer {
 public:
  /// Requires: path is empty or the full path of the component.
  Describer(std::string name, std::string path, std::string_view about) {
    open(std::move(name), std::move(path), about);
  }

  template <class T>
  void field(std::string_view name, T& value, const sim::Range<T>& range, std::string_view meaning) {
    add(name, type_of(value), format(value), meaning, format(range.min), format(range.max));
  }
  void field(std::string_view name, std::vector<int>& value, const sim::Range<int>& range,
             std::string_view meaning) {
    add(name, "list of integers", format(value), meaning, format(range.min), format(range.max));
  }
  template <sim::NamedEnum E>
  void field(std::string_view name, E& value, std::string_view meaning) {
    Parameter& p = add(name, "choice", std::string(sim::name_of(value)), meaning);
    for (const auto& n : names_of(value)) p.choices.push_back({std::string(n.name), std::string(n.meaning)});
  }
  void field(std::string_view name, bool& value, std::string_view meaning) {
    add(name, "true or false", format(value), meaning);
  }
  void field(std::string_view name, std::string& value, std::string_view meaning) {
    add(name, "text", value, meaning);
  }

  template <class Spec>
  void group(std::string_view name, Spec& spec) {
    const std::size_t outer = current_;
    components_[outer].components.emplace_back(name);
    open(std::string(name), path_of(name), Spec::kAbout);
    if constexpr (requires { Spec::kAlsoCalled; }) components_[current_].also = Spec::kAlsoCalled;
    spec.visit(*this);
    current_ = outer;
  }

  std::vector<Component> take() { return std::move(components_); }

 private:
  void open(std::string name, std::string path, std::string_view about) {
    current_ = components_.size();
    components_.push_back({std::move(name), std::move(path), {}, std::string(about), {}, {}});
  }
  std::string path_of(std::string_view name) const {
    const std::string& path = components_[current_].path;
    return path.empty() ? std::string(name) : path + "." + std::string(name);
  }
  Parameter& add(std::string_view name, std::string type, std::string value, std::string_view meaning,
                 std::string min = {}, std::string max = {}) {
    return components_[current_].parameters.emplace_back(Parameter{path_of(name),
                                                                   std::move(type),
                                                                   std::move(value),
                                                                   std::move(min),
                                                                   std::move(max),
                                                                   std::string(meaning),
                                                                   {}});
  }

  std::vector<Component> components_;
  std::size_t current_ = 0;
};

/// By value, because visit() hands out mutable references.
template <class Spec>
std::vector<Component> described(Spec spec, std::string name, std::string path) {
  Describer describer(std::move(name), std::move(path), Spec::kAbout);
  spec.visit(describer);
  return describer.take();
}

std::vector<Parameter> flattened(std::vector<Component> components) {
  std::vector<Parameter> out;
  for (Component& c : components) {
    for (Parameter& p : c.parameters) out.push_back(std::move(p));
  }
  return out;
}

}  // namespace

std::vector<Parameter> parameters(const study::SystemSpec& spec) {
  return flattened(described(spec, "system", ""));
}
std::vector<Parameter> parameters(const gpu::GpuSpec& spec) {
  return flattened(described(spec, "gpu", "gpu"));
}

std::vector<Parameter> parameters(const coll::Tuning& spec) {
  return flattened(described(spec, "coll", ""));
}

std::vector<Component> components() {
  return described(study::SystemSpec{}, "system", "");
}

std::optional<Component> find_component(std::string_view name) {
  for (Component& c : components()) {
    const bool also = !c.also.empty() && c.also == name;
    if (c.name == name || (!c.path.empty() && c.path == name) || also) return std::move(c);
  }
  return std::nullopt;
}

std::string suggestion_for_component(std::string_view name) {
  const std::vector<Component> all = components();
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Component& c : all) names.emplace_back(c.name);
  std::string hint = did_you_mean(name, names);
  if (!hint.empty()) return hint;
  return fmt::format(" (there are: {})", fmt::join(names, ", "));
}

}  // namespace infold::config
