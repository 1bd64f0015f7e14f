// Walks the tree of a model: order, paths and repetition. graph_layers.cpp defines what single layers do.
#include "train/graph.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "train/graph_builder.h"

namespace infold::train {

std::int64_t Graph::parameter_count() const {
  std::int64_t sum = 0;
  for (const Parameter& p : parameters) sum += p.elements();
  return sum;
}

std::int64_t Graph::active_parameter_count() const {
  std::int64_t sum = 0;
  for (const Parameter& p : parameters) sum += p.elements() / p.parts * p.parts_used;
  return sum;
}

double Graph::forward_flops() const {
  double sum = 0;
  for (const Operation& op : operations) sum += op.forward_flops;
  return sum;
}

sim::Result<Graph> build_graph(const Model& model, int sequence) {
  return GraphBuilder(model, sequence).build();
}

bool GraphBuilder::refuse(const sim::Place& place, std::string why) {
  if (!refusal_) refusal_ = sim::Error{.message = std::move(why), .place = place};
  return false;
}

std::optional<Shape> GraphBuilder::input_shape() {
  const Input& in = model_.input;
  const int kinds = (in.has_image() ? 1 : 0) + (in.features > 0 ? 1 : 0) + (in.tokens > 0 ? 1 : 0);
  if (kinds != 1 || in.has_image() != in.is_image()) return std::nullopt;
  if (in.is_image()) return Shape::image(in.channels, in.height, in.width);
  if (in.features > 0) return Shape::features(in.features);
  return Shape::tokens(sequence_ > 0 ? sequence_ : in.tokens);
}

sim::Result<Graph> GraphBuilder::build() {
  const auto input = input_shape();
  if (!input)
    return sim::fail("input: give channels, height and width of an image, or features, or tokens", "input");
  if (sequence_ > 0 && model_.input.tokens == 0)
    return sim::fail("its samples are no sequences, so they have no length to choose");
  at_ = add_value(*input, false);
  if (!walk(model_.layers, 0)) return sim::fail(std::move(*refusal_));
  if (!ended_) return sim::fail("layers: the last layer must be 'loss'", "layers");
  if (graph_.parameters.empty())
    return sim::fail("layers: there is nothing to train: no layer has parameters", "layers");
  return std::move(graph_);
}

ValueId GraphBuilder::add_value(const Shape& shape, bool needs_gradient) {
  graph_.values.push_back({shape, needs_gradient});
  return static_cast<ValueId>(graph_.values.size() - 1);
}

void GraphBuilder::add_line(int depth, int operation, std::string heading, int times) {
  if (!silent_) graph_.lines.push_back({depth, operation, times, std::move(heading)});
}

bool GraphBuilder::walk(const Nodes& nodes, int depth) {
  for (const Node& node : nodes) {
    if (ended_) return refuse(node.place, "nothing can follow 'loss' on its path");
    const bool fine = std::visit(
        [&](const auto& what) {
          using T = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<T, Layer>) {
            return add_layer(what, node.place, depth);
          } else if constexpr (std::is_same_v<T, Branches>) {
            return walk_branches(what, node.place, depth);
          } else if constexpr (std::is_same_v<T, Side>) {
            return walk_side(what, depth);
          } else if constexpr (std::is_same_v<T, Repeat>) {
            return walk_repeat(what, depth);
          } else {
            add_line(depth, -1, what.name, 1);
            return walk(what.layers, depth + 1);
          }
        },
        node.what);
    if (!fine) return false;
  }
  return true;
}

/// A part that leaves the shape as it was does the same in the next repetition, so it is described once.
bool GraphBuilder::walk_repeat(const Repeat& repeat, int depth) {
  const bool outer = silent_;
  const bool outermost = repetition_ < 0;
  for (int i = 0; i < repeat.times; ++i) {
    if (outermost) repetition_ = graph_.repetitions++;
    const Shape before = here();
    const std::size_t heading = graph_.lines.size();
    add_line(depth, -1, "repeat", 1);
    if (!walk(repeat.layers, depth + 1)) return false;
    if (!silent_ && here() == before && !ended_) {
      graph_.lines[heading].times = repeat.times - i;
      silent_ = true;
    }
  }
  silent_ = outer;
  if (outermost) repetition_ = -1;
  return true;
}

/// The body comes first, as frameworks declare and compute it: the shortcut of a block is registered after
/// its body, so backward reaches the shortcut first.
bool GraphBuilder::walk_branches(const Branches& branches, const sim::Place& place, int depth) {
  const bool adds = branches.join == Branches::Join::kAdd;
  const ValueId from = at_;
  const bool two = !branches.shortcut.empty();
  add_line(depth, -1, adds ? "residual" : "gate", 1);
  if (two) add_line(depth + 1, -1, "body", 1);
  if (!walk(branches.body, depth + (two ? 2 : 1))) return false;
  if (ended_) return refuse(place, "a path that joins another cannot end in 'loss'");
  const ValueId body = std::exchange(at_, from);
  if (two) add_line(depth + 1, -1, "shortcut", 1);
  if (!walk(branches.shortcut, depth + 2)) return false;
  if (ended_) return refuse(place, "a path that joins another cannot end in 'loss'");
  const ValueId other = at_;
  if (!(graph_.shape(body) == graph_.shape(other))) {
    return refuse(place, fmt::format("the paths do not fit together: {} and {}",
                                     to_string(graph_.shape(body)), to_string(graph_.shape(other))));
  }
  if (body == other) return refuse(place, "the body does nothing");
  Operation op;
  op.what = Join{branches.join};
  op.inputs = {body, other};
  op.output = add_value(here(), true);
  op.repetition = repetition_;
  at_ = op.output;
  graph_.operations.push_back(std::move(op));
  add_line(depth + 1, static_cast<int>(graph_.operations.size()) - 1, "", 1);
  return true;
}

bool GraphBuilder::walk_side(const Side& side, int depth) {
  const ValueId from = at_;
  add_line(depth, -1, "side", 1);
  if (!walk(side.layers, depth + 1)) return false;
  if (!ended_) {
    return refuse(side.layers.empty() ? sim::Place{} : side.layers.back().place,
                  "a side path must end in 'loss'");
  }
  ended_ = false;
  at_ = from;
  return true;
}

}  // namespace infold::train
