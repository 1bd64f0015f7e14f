// What the layers of transformers do with the shape before them: kinds of attention, routed experts.
#include <fmt/format.h>

#include <string>

#include "train/graph_builder.h"

namespace infold::train {

sim::Status GraphBuilder::add_projection(Operation& op, std::string_view name, std::int64_t out,
                                         std::int64_t in, bool bias) {
  sim::Status added = add_parameter(op, fmt::format("{}.weight", name), out, in, true);
  if (added && bias) added = add_parameter(op, fmt::format("{}.bias", name), 1, out, false);
  return added;
}

sim::Status GraphBuilder::apply(const Attention& l, Operation& op, Shape& /*out*/) {
  const Shape in = here();
  if (in.kind != Shape::Kind::kSequence) return sim::fail(wants("attention", "a sequence of vectors", in));
  const std::int64_t d = in.channels;
  if (l.head_size == 0 && d % l.heads != 0)
    return sim::fail(fmt::format("a width of {} cannot be shared by {} heads", d, l.heads));
  if (l.heads % l.value_heads() != 0)
    return sim::fail(
        fmt::format("{} heads cannot share {} heads of keys and values evenly", l.heads, l.value_heads()));
  if (l.cross) {
    if (memory_ < 0) return sim::fail("cross: there is no 'memory' before it");
    if (graph_.shape(memory_).channels != d)
      return sim::fail(wants("cross attention", "the memory's width", in));
    if (l.joined) return sim::fail("cross attention has separate projections: queries come from elsewhere");
    op.inputs.push_back(memory_);
  }
  const std::int64_t queries = l.query_width(d);
  const std::int64_t values = queries / l.heads * l.value_heads();
  if (l.joined) {
    if (auto added = add_projection(op, "query-key-value", queries + 2 * values, d, l.bias); !added)
      return added;
  } else {
    if (auto added = add_projection(op, "query", queries, d, l.bias); !added) return added;
    for (const char* name : {"key", "value"}) {
      if (auto added = add_projection(op, name, values, d, l.bias); !added) return added;
    }
  }
  if (auto added = add_projection(op, "out", d, queries, l.biased_output()); !added) return added;
  if (l.head_norm) {
    for (const char* name : {"query-norm.scale", "key-norm.scale"}) {
      if (auto added = add_parameter(op, name, 1, queries / l.heads, false); !added) return added;
    }
  }
  op.forward_flops = 4 * product_of({in.height, d, queries}) + 4 * product_of({in.height, d, values}) +
                     4 * product_of({in.height, in.height, queries});
  return {};
}

sim::Status GraphBuilder::apply(const LatentAttention& l, Operation& op, Shape& /*out*/) {
  const Shape in = here();
  if (in.kind != Shape::Kind::kSequence)
    return sim::fail(wants("latent-attention", "a sequence of vectors", in));
  const std::int64_t d = in.channels;
  const std::int64_t queries = l.heads * l.key_size();
  const std::int64_t pairs = std::int64_t{l.heads} * (l.plain_size + l.value_size);
  const std::int64_t values = std::int64_t{l.heads} * l.value_size;
  double each = 0;  // multiplications per token
  const auto project = [&](std::string_view name, std::int64_t out, std::int64_t from) {
    each += product_of({out, from});
    return add_projection(op, name, out, from, false);
  };
  if (l.query_rank > 0) {
    if (auto added = project("query-down", l.query_rank, d); !added) return added;
    if (auto added = add_parameter(op, "query-norm.scale", 1, l.query_rank, false); !added) return added;
    if (auto added = project("query-up", queries, l.query_rank); !added) return added;
  } else if (auto added = project("query", queries, d); !added) {
    return added;
  }
  if (auto added = project("key-value-down", l.kv_rank + l.rotary_size, d); !added) return added;
  if (auto added = add_parameter(op, "key-value-norm.scale", 1, l.kv_rank, false); !added) return added;
  if (auto added = project("key-value-up", pairs, l.kv_rank); !added) return added;
  if (auto added = project("out", d, values); !added) return added;
  op.forward_flops =
      2 * static_cast<double>(in.height) * each + 2 * product_of({in.height, in.height, queries + values});
  return {};
}

sim::Status GraphBuilder::apply(const Experts& l, Operation& op, Shape& /*out*/) {
  const Shape in = here();
  if (in.kind != Shape::Kind::kSequence) return sim::fail(wants("experts", "a sequence of vectors", in));
  if (l.top > l.count)
    return sim::fail(fmt::format("a token cannot be sent to {} of {} experts", l.top, l.count));
  const std::int64_t d = in.channels;
  if (auto added = add_projection(op, "router", l.count, d, false); !added) return added;
  graph_.parameters.back().wide = true;
  if (l.balance) {
    if (auto added = add_parameter(op, "router.balance", 1, l.count, false); !added) return added;
  }
  const std::int64_t rows = std::int64_t{l.count} * l.inner;
  for (const char* name : {"gate", "up"}) {
    if (auto added = add_projection(op, name, rows, d, false); !added) return added;
  }
  if (auto added = add_projection(op, "down", l.count * d, l.inner, false); !added) return added;
  for (std::size_t i = op.parameters.size() - 3; i < op.parameters.size(); ++i) {
    Parameter& matrices = graph_.parameters[static_cast<std::size_t>(op.parameters[i])];
    matrices.parts = l.count;
    matrices.parts_used = l.top;
  }
  op.forward_flops = 2 * product_of({in.height, d, l.count}) + 6 * product_of({in.height, l.top, d, l.inner});
  return {};
}

}  // namespace infold::train
