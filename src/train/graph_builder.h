// Walks the tree of a model and computes shapes, parameters and operations. Used by build_graph only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/graph.h"

namespace infold::train {

class GraphBuilder {
 public:
  GraphBuilder(const Model& model, int sequence) : model_(model), sequence_(sequence) {}
  std::variant<Graph, ModelRefusal> build();

 private:
  using Refused = std::optional<std::string>;

  bool walk(const Nodes& nodes, int depth);
  bool walk_repeat(const Repeat& repeat, int depth);
  bool walk_branches(const Branches& branches, int origin, int depth);
  bool walk_side(const Side& side, int depth);
  bool add_layer(const Layer& layer, int origin, int depth);
  bool refuse(int origin, std::string why);
  std::optional<Shape> input_shape();

  // There is one function for each kind of layer. It computes the new shape, or says why the layer does not
  // fit.
  Refused apply(const Conv& l, Operation& op, Shape& out);
  Refused apply(const Linear& l, Operation& op, Shape& out);
  Refused apply(const BatchNorm& l, Operation& op, Shape& out);
  Refused apply(const LayerNorm& l, Operation& op, Shape& out);
  Refused apply(const RmsNorm& l, Operation& op, Shape& out);
  Refused apply(const Activation& l, Operation& op, Shape& out);
  Refused apply(const Dropout& l, Operation& op, Shape& out);
  Refused apply(const Pool& l, Operation& op, Shape& out);
  Refused apply(const Flatten& l, Operation& op, Shape& out);
  Refused apply(const Embedding& l, Operation& op, Shape& out);
  Refused apply(const AddEmbedding& l, Operation& op, Shape& out);
  Refused apply(const Attention& l, Operation& op, Shape& out);
  Refused apply(const Pick& l, Operation& op, Shape& out);
  Refused apply(const Memory& l, Operation& op, Shape& out);
  Refused apply(const Interact& l, Operation& op, Shape& out);
  Refused apply(const Loss& l, Operation& op, Shape& out);

  const Shape& here() const { return graph_.shape(at_); }
  Refused needs_vectors() const;
  ValueId add_value(const Shape& shape, bool needs_gradient);
  Refused add_parameter(Operation& op, std::string name, std::int64_t rows, std::int64_t cols, bool matrix);
  void add_line(int depth, int operation, std::string heading, int times);

  const Model& model_;
  int sequence_;
  Graph graph_;
  std::optional<ModelRefusal> refusal_;
  ValueId at_ = 0;       // output of the last layer
  bool ended_ = false;   // the path has ended with a loss
  bool silent_ = false;  // inside a repetition that was described already
  ValueId memory_ = -1;  // the value that 'memory' kept
  ParameterId first_embedding_ = -1;
};

}  // namespace infold::train
