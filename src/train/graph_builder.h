// Walks the tree of a model and computes shapes, parameters and operations. Used by build_graph only.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph.h"

namespace infold::train {

/// The message of a refusal: "conv needs an image, not 10".
std::string wants(std::string_view layer, std::string_view what, const Shape& got);
double product_of(std::initializer_list<std::int64_t> factors);

class GraphBuilder {
 public:
  GraphBuilder(const Model& model, int sequence) : model_(model), sequence_(sequence) {}
  sim::Result<Graph> build();

 private:
  bool walk(const Nodes& nodes, int depth);
  bool walk_repeat(const Repeat& repeat, int depth);
  bool walk_branches(const Branches& branches, const sim::Place& place, int depth);
  bool walk_side(const Side& side, int depth);
  bool add_layer(const Layer& layer, const sim::Place& place, int depth);
  bool refuse(const sim::Place& place, std::string why);
  std::optional<Shape> input_shape();

  // Each kind of layer has one: it says what the layer makes of the current shape, or why it cannot.
  sim::Status apply(const Conv& l, Operation& op, Shape& out);
  sim::Status apply(const Linear& l, Operation& op, Shape& out);
  sim::Status apply(const BatchNorm& l, Operation& op, Shape& out);
  sim::Status apply(const LayerNorm& l, Operation& op, Shape& out);
  sim::Status apply(const RmsNorm& l, Operation& op, Shape& out);
  sim::Status apply(const Activation& l, Operation& op, Shape& out);
  sim::Status apply(const Dropout& l, Operation& op, Shape& out);
  sim::Status apply(const Pool& l, Operation& op, Shape& out);
  sim::Status apply(const Flatten& l, Operation& op, Shape& out);
  sim::Status apply(const Embedding& l, Operation& op, Shape& out);
  sim::Status apply(const AddEmbedding& l, Operation& op, Shape& out);
  sim::Status apply(const Attention& l, Operation& op, Shape& out);
  sim::Status apply(const LatentAttention& l, Operation& op, Shape& out);
  sim::Status apply(const Experts& l, Operation& op, Shape& out);
  sim::Status apply(const Pick& l, Operation& op, Shape& out);
  sim::Status apply(const Memory& l, Operation& op, Shape& out);
  sim::Status apply(const Interact& l, Operation& op, Shape& out);
  sim::Status apply(const Loss& l, Operation& op, Shape& out);

  const Shape& here() const { return graph_.shape(at_); }
  sim::Status needs_vectors() const;
  sim::Status add_projection(Operation& op, std::string_view name, std::int64_t out, std::int64_t in,
                             bool bias);
  ValueId add_value(const Shape& shape, bool needs_gradient);
  sim::Status add_parameter(Operation& op, std::string name, std::int64_t rows, std::int64_t cols,
                            bool matrix);
  void add_line(int depth, int operation, std::string heading, int times);

  const Model& model_;
  int sequence_;
  Graph graph_;
  std::optional<sim::Error> refusal_;
  ValueId at_ = 0;       // the value that the last layer gave
  bool ended_ = false;   // a loss has ended the path
  bool silent_ = false;  // in a repetition that was described already
  int repetition_ = -1;  // the current one; -1: in none
  ValueId memory_ = -1;  // what 'memory' kept
  ParameterId first_embedding_ = -1;
};

}  // namespace infold::train
