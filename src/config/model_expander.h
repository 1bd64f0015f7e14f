// From a draft to a model: expands blocks and repetition, and computes expressions. Used by expand_model
// only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_draft.h"
#include "config/yaml/expression.h"
#include "config/yaml/position.h"
#include "config/yaml/reader.h"
#include "train/model.h"

namespace infold::config {

class ModelExpander {
 public:
  ModelExpander(const ModelDraft& draft, std::string file) : draft_(draft), file_(std::move(file)) {}
  sim::Result<train::Model> run();

 private:
  /// The position of a list in the expansion.
  struct Context {
    const std::string* file = nullptr;  ///< the file that contains the YAML
    const Scope* scope = nullptr;
    int depth = 0;
    double times = 1;  ///< how often all of this is repeated
  };

  bool fail(const Context& c, Position at, std::string why);
  bool read_parameters();
  bool read_input(train::Model& model);
  bool expand_list(const YamlNode& list, const Context& c, std::string_view what, train::Nodes& out);
  bool expand_item(const YamlNode& item, const Context& c, train::Node& out);
  bool expand_layer(const train::LayerName& layer, const YamlNode* arguments, Position at, const Context& c,
                    train::Node& out);
  bool expand_branches(train::Branches::Join join, const YamlNode* arguments, Position at, const Context& c,
                       train::Node& out);
  bool expand_repeat(const YamlNode* arguments, Position at, const Context& c, train::Node& out);
  bool expand_block(const PlacedNode& block, const YamlNode* arguments, Position at, const Context& c,
                    train::Node& out);
  bool read_arguments(const YamlNode& takes, const PlacedNode& block, const YamlNode* arguments, Position at,
                      const Context& c, Scope& scope);
  ReadContext reading(const Context& c) const;
  bool finish(const Context& c, const ReadContext& reading);
  const PlacedNode* find_block(std::string_view name) const;

  const ModelDraft& draft_;
  std::string file_;
  Scope parameters_;
  std::vector<std::string> blocks_open_;  // each used by the one before
  double layers_ = 0;
  std::optional<sim::Error> fault_;
};

}  // namespace infold::config
