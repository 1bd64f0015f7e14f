// What each layer does with the shape before it: the shape behind it, its parameters, its operations.
#include <fmt/format.h>

#include <utility>

#include "train/graph_builder.h"

namespace infold::train {

namespace {
/// This limit lies far beyond any machine, and far below what 64 bits hold.
constexpr double kMostElements = 1e12;

}  // namespace

std::string wants(std::string_view layer, std::string_view what, const Shape& got) {
  return fmt::format("{} needs {}, not {}", layer, what, to_string(got));
}

double product_of(std::initializer_list<std::int64_t> factors) {
  double p = 1;
  for (const std::int64_t f : factors) p *= static_cast<double>(f);
  return p;
}

bool GraphBuilder::add_layer(const Layer& layer, const sim::Place& place, int depth) {
  Operation op;
  op.what = layer;
  op.inputs = {at_};
  op.repetition = repetition_;
  Shape out = here();
  const auto applied = std::visit([&](const auto& l) { return apply(l, op, out); }, layer);
  if (!applied) return refuse(place, applied.error().message);
  if (product_of({out.height, out.width, out.channels}) > kMostElements)
    return refuse(place, fmt::format("{} elements per sample are too many", to_string(out)));
  const bool second_input = std::holds_alternative<Memory>(layer);
  op.output = add_value(out, !second_input);
  at_ = op.output;
  graph_.operations.push_back(std::move(op));
  add_line(depth, static_cast<int>(graph_.operations.size()) - 1, "", 1);
  return true;
}

sim::Status GraphBuilder::needs_vectors() const {
  if (here().kind != Shape::Kind::kTokens) return {};
  return sim::fail("tokens are numbers of words; an 'embedding' must come first");
}

sim::Status GraphBuilder::add_parameter(Operation& op, std::string name, std::int64_t rows, std::int64_t cols,
                                        bool matrix) {
  if (product_of({rows, cols}) > kMostElements)
    return sim::fail(fmt::format("a parameter of {} x {} is too large", rows, cols));
  op.parameters.push_back(static_cast<ParameterId>(graph_.parameters.size()));
  graph_.parameters.push_back({std::move(name), rows, cols, matrix});
  return {};
}

sim::Status GraphBuilder::apply(const Conv& l, Operation& op, Shape& out) {
  const Shape in = here();
  if (in.kind != Shape::Kind::kImage) return sim::fail(wants("conv", "an image", in));
  const std::int64_t high = in.height + 2 * l.padding() - l.size;
  const std::int64_t wide = in.width + 2 * l.padding() - l.size;
  if (high < 0 || wide < 0) {
    return sim::fail(fmt::format("a filter of {} x {} does not fit an image of {} x {} with {} of padding",
                                 l.size, l.size, in.height, in.width, l.padding()));
  }
  out = Shape::image(l.filters, high / l.stride + 1, wide / l.stride + 1);
  if (auto added = add_parameter(op, "weight", l.filters, in.channels * l.size * l.size, true); !added)
    return added;
  op.forward_flops = 2 * product_of({out.positions(), l.filters, in.channels, l.size, l.size});
  return l.bias ? add_parameter(op, "bias", 1, l.filters, false) : sim::Status{};
}

sim::Status GraphBuilder::apply(const Linear& l, Operation& op, Shape& out) {
  const Shape in = here();
  if (auto fits = needs_vectors(); !fits) return fits;
  if (in.kind == Shape::Kind::kImage) return sim::fail("linear needs a vector; put 'flatten' before it");
  out.channels = l.out;
  op.forward_flops = 2 * product_of({in.positions(), in.channels, l.out});
  if (l.tied) {
    if (first_embedding_ < 0) return sim::fail("tied: there is no embedding before it");
    const Parameter& table = graph_.parameters[static_cast<std::size_t>(first_embedding_)];
    if (table.rows != l.out || table.cols != in.channels) {
      return sim::fail(fmt::format("tied: the embedding is {} x {}, this needs {} x {}", table.rows,
                                   table.cols, l.out, in.channels));
    }
    op.parameters.push_back(first_embedding_);
  } else if (auto added = add_parameter(op, "weight", l.out, in.channels, true); !added) {
    return added;
  }
  return l.bias ? add_parameter(op, "bias", 1, l.out, false) : sim::Status{};
}

sim::Status GraphBuilder::apply(const BatchNorm& /*l*/, Operation& op, Shape& /*out*/) {
  if (here().kind != Shape::Kind::kImage && here().kind != Shape::Kind::kFeatures)
    return sim::fail(wants("batch-norm", "an image or a vector", here()));
  if (auto added = add_parameter(op, "scale", 1, here().channels, false); !added) return added;
  return add_parameter(op, "shift", 1, here().channels, false);
}

sim::Status GraphBuilder::apply(const LayerNorm& l, Operation& op, Shape& /*out*/) {
  if (auto fits = needs_vectors(); !fits) return fits;
  if (auto added = add_parameter(op, "scale", 1, here().channels, false); !added) return added;
  return l.bias ? add_parameter(op, "shift", 1, here().channels, false) : sim::Status{};
}

sim::Status GraphBuilder::apply(const RmsNorm& /*l*/, Operation& op, Shape& /*out*/) {
  if (auto fits = needs_vectors(); !fits) return fits;
  return add_parameter(op, "scale", 1, here().channels, false);
}

sim::Status GraphBuilder::apply(const Activation& /*l*/, Operation& /*op*/, Shape& /*out*/) {
  return needs_vectors();
}

sim::Status GraphBuilder::apply(const Dropout& /*l*/, Operation& /*op*/, Shape& /*out*/) {
  return needs_vectors();
}

sim::Status GraphBuilder::apply(const Pool& l, Operation& /*op*/, Shape& out) {
  const Shape in = here();
  if (in.kind != Shape::Kind::kImage) return sim::fail(wants("pooling", "an image", in));
  if (l.size == 0) {
    out = Shape::features(in.channels);
    return {};
  }
  const std::int64_t stride = l.stride == 0 ? l.size : l.stride;
  const std::int64_t high = in.height + std::int64_t{2} * l.pad - l.size;
  const std::int64_t wide = in.width + std::int64_t{2} * l.pad - l.size;
  if (high < 0 || wide < 0)
    return sim::fail(fmt::format("a window of {} x {} does not fit an image of {} x {}", l.size, l.size,
                                 in.height, in.width));
  out = Shape::image(in.channels, high / stride + 1, wide / stride + 1);
  return {};
}

sim::Status GraphBuilder::apply(const Flatten& /*l*/, Operation& /*op*/, Shape& out) {
  if (here().kind != Shape::Kind::kImage) return sim::fail(wants("flatten", "an image", here()));
  out = Shape::features(here().elements());
  return {};
}

sim::Status GraphBuilder::apply(const Embedding& l, Operation& op, Shape& out) {
  if (here().kind != Shape::Kind::kTokens) return sim::fail(wants("embedding", "tokens", here()));
  out = Shape::sequence(here().height, l.width);
  if (!l.tied) {
    if (auto added = add_parameter(op, "table", l.rows, l.width, false); !added) return added;
    if (first_embedding_ < 0) first_embedding_ = op.parameters.back();
    return {};
  }
  if (first_embedding_ < 0) return sim::fail("tied: there is no embedding before it");
  const Parameter& table = graph_.parameters[static_cast<std::size_t>(first_embedding_)];
  if (table.rows != l.rows || table.cols != l.width) {
    return sim::fail(fmt::format("tied: the first embedding is {} x {}, this needs {} x {}", table.rows,
                                 table.cols, l.rows, l.width));
  }
  op.parameters.push_back(first_embedding_);
  return {};
}

sim::Status GraphBuilder::apply(const AddEmbedding& l, Operation& op, Shape& /*out*/) {
  if (here().kind != Shape::Kind::kSequence)
    return sim::fail(wants("add-embedding", "a sequence of vectors", here()));
  if (!l.positions && l.rows == 0) return sim::fail("add-embedding: segments need 'rows'");
  const std::int64_t rows = l.rows == 0 ? here().height : l.rows;
  if (l.positions && here().height > rows)
    return sim::fail(fmt::format("a sequence of {} tokens, but only {} positions", here().height, rows));
  return add_parameter(op, "table", rows, here().channels, false);
}

sim::Status GraphBuilder::apply(const Pick& l, Operation& /*op*/, Shape& out) {
  if (here().kind != Shape::Kind::kSequence) return sim::fail(wants("pick", "a sequence of vectors", here()));
  if ((l.tokens > 0) == (l.percent > 0)) return sim::fail("pick: give either tokens or percent");
  const std::int64_t n = l.tokens > 0 ? l.tokens : (here().height * l.percent + 99) / 100;
  if (n > here().height) return sim::fail(fmt::format("{} tokens of a sequence of {}", n, here().height));
  out.height = n;
  return {};
}

sim::Status GraphBuilder::apply(const Memory& /*l*/, Operation& /*op*/, Shape& out) {
  if (here().kind != Shape::Kind::kSequence)
    return sim::fail(wants("memory", "a sequence of vectors", here()));
  if (memory_ >= 0) return sim::fail("there is a 'memory' already");
  memory_ = at_;
  out = Shape::tokens(here().height);
  return {};
}

sim::Status GraphBuilder::apply(const Interact& l, Operation& op, Shape& out) {
  if (here().kind != Shape::Kind::kFeatures) return sim::fail(wants("interact", "a vector", here()));
  const std::int64_t vectors = l.features + 1;
  const std::int64_t pairs = vectors * (vectors - 1) / 2;
  op.forward_flops = 2 * product_of({vectors, vectors, here().channels});
  out = Shape::features(here().channels + pairs);
  return {};
}

sim::Status GraphBuilder::apply(const Loss& /*l*/, Operation& /*op*/, Shape& /*out*/) {
  if (auto fits = needs_vectors(); !fits) return fits;
  // Rounding errors of the last projection reach the loss directly, so it keeps 16 bits.
  if (!graph_.operations.empty() && graph_.operations.back().as<Linear>() != nullptr) {
    const ParameterId weight = graph_.operations.back().parameters.front();
    graph_.parameters[static_cast<std::size_t>(weight)].wide = true;
  }
  if (here().kind == Shape::Kind::kImage) return sim::fail(wants("loss", "vectors", here()));
  ended_ = true;
  return {};
}

}  // namespace infold::train
