// Reads what all kinds share; formats/model/model_families.cpp has the kinds.
#include "formats/model/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/yaml/limits.h"
#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "formats/model/config_keys.h"
#include "formats/model/model_families.h"
#include "formats/text/json_tree.h"
#include "train/graph.h"

namespace infold::formats {

namespace {

constexpr JsonLimits kConfigLimits{.depth = 16, .values = 100'000};

/// The last part of "owner/name", as far as a name of ours may hold it.
std::string name_from(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  path = path.substr(path.find_last_of('/') + 1);
  std::string name;
  for (const char c : path.substr(0, config::kLongestName)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || config::is_digit(c);
    name += letter || c == '.' || c == '_' || c == '-' || c == '+' ? c : '-';
  }
  return name;
}

double layers_in(const train::Nodes& nodes) {
  double sum = 0;
  for (const train::Node& node : nodes) {
    if (const auto* repeat = std::get_if<train::Repeat>(&node.what)) {
      sum += repeat->times * layers_in(repeat->layers);
    } else if (const auto* group = std::get_if<train::Group>(&node.what)) {
      sum += layers_in(group->layers);
    } else if (const auto* branches = std::get_if<train::Branches>(&node.what)) {
      sum += layers_in(branches->body) + layers_in(branches->shortcut);
    } else {
      sum += 1;
    }
  }
  return sum;
}

std::string unknown_type(const std::string& type) {
  std::vector<std::string_view> known;
  for (const ModelFamily& family : model_families()) known.push_back(family.type);
  return fmt::format("model_type: {} is not known{} (known are {})", config::quote(type),
                     config::did_you_mean(type, known), fmt::join(known, ", "));
}

}  // namespace

sim::Result<ModelImport> read_hugging_face(std::string_view text, const std::string& file,
                                           const std::string& stem) {
  const auto root = parse_json(text, file, kConfigLimits);
  if (!root) return sim::fail_as(root);
  if (root->kind != config::YamlNode::Kind::kMap)
    return sim::fail(
        config::at(file, root->at, fmt::format("expected a map, not {}", kind_text(root->kind))));
  ModelImport out;
  ConfigKeys keys(*root, file, out.notes);
  const std::string type = keys.word("model_type");
  if (type.empty()) {
    if (keys.problem()) return sim::fail(*keys.problem());
    return sim::fail(config::at(file, root->at, "'model_type' is missing"));
  }
  const auto families = model_families();
  const auto family = std::ranges::find(families, type, &ModelFamily::type);
  if (family == families.end())
    return sim::fail(config::at(file, root->find("model_type")->at, unknown_type(type)));

  train::Model& model = out.model;
  family->build(keys, model, out.notes);
  model.name = name_from(keys.word("_name_or_path"));
  if (model.name.empty()) model.name = name_from(stem);
  if (model.name.empty()) model.name = type;
  keys.finish();
  if (keys.problem()) return sim::fail(*keys.problem());
  if (layers_in(model.layers) > train::kMostLayers)
    return sim::fail(
        config::at(file, root->at, fmt::format("the model has more than {} layers", train::kMostLayers)));
  const auto graph = train::build_graph(model);
  if (!graph) {
    sim::Error error = graph.error();
    if (error.place.file.empty()) error.place = {file, root->at.line, root->at.column};
    return sim::fail(std::move(error));
  }
  const std::int64_t parameters = graph->parameter_count();
  model.summary = fmt::format("{} of Hugging Face, {:.4g} {} parameters", type,
                              static_cast<double>(parameters) * (parameters < 1'000'000'000 ? 1e-6 : 1e-9),
                              parameters < 1'000'000'000 ? "M" : "G");
  out.notes.fact("model_type", type);
  out.notes.fact("parameters", parameters);
  out.notes.fact("active_parameters", graph->active_parameter_count());
  out.notes.fact("layers", static_cast<std::int64_t>(graph->operations.size()));
  out.notes.fact("tokens", std::int64_t{model.input.tokens});
  model.sources = out.notes.sources(fmt::format("a config.json of transformers, model_type {}", type));
  return out;
}

}  // namespace infold::formats
