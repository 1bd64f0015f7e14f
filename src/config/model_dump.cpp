// Only numbers that differ from a layer's defaults are written. Groups become blocks, so nesting stays flat.
#include "config/model_dump.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "train/layers.h"

namespace infold::config {
namespace {

/// The fields of a spec as text.
struct FieldList {
  std::vector<std::pair<std::string_view, std::string>> fields;
  void field(std::string_view name, int& value, const sim::Range<int>& /*range*/,
             std::string_view /*meaning*/) {
    fields.emplace_back(name, std::to_string(value));
  }
  void field(std::string_view name, bool& value, std::string_view /*meaning*/) {
    fields.emplace_back(name, value ? "true" : "false");
  }
};

template <class Spec>
std::string changed_fields(Spec now, Spec usual) {
  FieldList given;
  FieldList defaults;
  now.visit(given);
  usual.visit(defaults);
  std::string text;
  for (std::size_t i = 0; i < given.fields.size(); ++i) {
    if (given.fields[i] == defaults.fields[i]) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", given.fields[i].first, given.fields[i].second);
  }
  return text;
}

std::string layer_text(const train::Layer& layer) {
  const train::LayerName* named = train::find_layer(train::name_of(layer));
  const std::string fields = std::visit(
      [&](const auto& l) { return changed_fields(l, std::get<std::decay_t<decltype(l)>>(named->layer)); },
      layer);
  return fields.empty() ? std::string(named->name) : fmt::format("{}: {{{}}}", named->name, fields);
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class ModelDumper {
 public:
  std::string dump(const train::Model& model) {
    std::string text = fmt::format("kind: model\nname: {}\nsummary: {}\n", quoted_text(model.name),
                                   quoted_text(model.summary));
    if (!model.sources.empty()) text += "sources:\n";
    for (const std::string& source : model.sources) text += fmt::format("  - {}\n", quoted_text(source));
    text += fmt::format("input: {{{}}}\n", changed_fields(model.input, train::Input{}));
    const std::string layers = list(model.layers, 2);
    if (!blocks_.empty()) text += "blocks:\n";
    for (const auto& [name, body] : blocks_) text += fmt::format("  {}:\n    layers:\n{}", name, body);
    return text + "layers:\n" + layers;
  }

 private:
  std::string list(const train::Nodes& nodes, int indent) {
    std::string text;
    for (const train::Node& node : nodes)
      text += std::visit([&](const auto& n) { return item(n, indent); }, node.what);
    return text;
  }
  static std::string item(const train::Layer& layer, int indent) {
    return fmt::format("{:{}}- {}\n", "", indent, layer_text(layer));
  }
  std::string item(const train::Branches& branches, int indent) {
    const std::string_view name = branches.join == train::Branches::Join::kAdd ? "residual" : "gate";
    std::string text = fmt::format("{:{}}- {}:\n", "", indent, name);
    if (branches.shortcut.empty()) return text + list(branches.body, indent + 4);
    text += fmt::format("{:{}}body:\n{}", "", indent + 4, list(branches.body, indent + 6));
    return text + fmt::format("{:{}}shortcut:\n{}", "", indent + 4, list(branches.shortcut, indent + 6));
  }
  std::string item(const train::Side& side, int indent) {
    return fmt::format("{:{}}- side:\n{}", "", indent, list(side.layers, indent + 4));
  }
  std::string item(const train::Repeat& repeat, int indent) {
    return fmt::format("{:{}}- repeat:\n{:{}}times: {}\n{:{}}layers:\n{}", "", indent, "", indent + 4,
                       repeat.times, "", indent + 4, list(repeat.layers, indent + 6));
  }
  /// A group whose layers are those of a block that is there already uses it.
  std::string item(const train::Group& group, int indent) {
    const std::string body = list(group.layers, 6);
    std::string name = group.name;
    for (int number = 2;; ++number) {
      bool taken = false;
      for (const auto& [known, layers] : blocks_) {
        if (known != name) continue;
        if (layers == body) return fmt::format("{:{}}- {}\n", "", indent, name);
        taken = true;
      }
      if (!taken) break;
      name = fmt::format("{}_{}", group.name, number);
    }
    blocks_.emplace_back(name, body);
    return fmt::format("{:{}}- {}\n", "", indent, name);
  }

  std::vector<std::pair<std::string, std::string>> blocks_;
};

}  // namespace

std::string to_yaml(const train::Model& model) {
  return ModelDumper().dump(model);
}

}  // namespace infold::config
