// The file of a model before its blocks are expanded: the pieces of YAML, each with the file it is in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/yaml/position.h"
#include "config/yaml/yaml_tree.h"
#include "train/model.h"

namespace infold::config {

struct PlacedNode {
  YamlNode node;
  std::string file;
};

/// What the file of a model may contain. A parameter or block replaces one of the same name of the base.
struct ModelDraft {
  std::string name;
  std::string summary;
  std::vector<std::string> sources;
  std::optional<PlacedNode> input;
  std::vector<PlacedNode> parameters;
  std::vector<PlacedNode> blocks;
  std::optional<PlacedNode> layers;

  template <class Reader>
  void visit(Reader& reader) {
    take(reader, "input", input);
    merge(reader, "parameters", parameters);
    merge(reader, "blocks", blocks);
    take(reader, "layers", layers);
  }

 private:
  template <class Reader>
  static void take(Reader& reader, const char* key, std::optional<PlacedNode>& into) {
    if (const YamlNode* node = reader.take(key)) into = PlacedNode{*node, reader.file()};
  }
  template <class Reader>
  static void merge(Reader& reader, const char* key, std::vector<PlacedNode>& into) {
    const YamlNode* node = reader.map(key);
    if (node == nullptr) return;
    for (const YamlNode& child : node->children) {
      PlacedNode placed{child, reader.file()};
      bool replaced = false;
      for (PlacedNode& old : into) {
        if (old.node.key != child.key) continue;
        old = placed;
        replaced = true;
      }
      if (!replaced) into.push_back(std::move(placed));
    }
  }
};

/// Puts blocks in their places, works out every number, and checks shapes.
sim::Result<train::Model> expand_model(const ModelDraft& draft, const std::string& file);

}  // namespace infold::config
