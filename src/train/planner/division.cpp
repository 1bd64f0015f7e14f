// Walks the operations in order. A linear layer whose result reaches another one through nothing but
// activations, dropout and multiplications with others of its kind is divided by columns, the other one by
// rows. The last projection is divided over the vocabulary. Attention and experts divide themselves.
#include "train/planner/division.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "train/planner/fusion.h"

namespace infold::train {

namespace {

std::int64_t rounded_up(std::int64_t n, std::int64_t by) {
  return (n + by - 1) / by;
}

class Divider {
 public:
  Divider(const Graph& graph, const Recipe& recipe, const Split& split)
      : graph_(graph), recipe_(recipe), out_(undivided(graph)), consumers_(graph.values.size()) {
    out_.split = split;
    for (int i = 0; i < static_cast<int>(graph.operations.size()); ++i) {
      for (const ValueId v : operation(i).inputs) consumers_[static_cast<std::size_t>(v)].push_back(i);
    }
  }

  sim::Result<Division> run() {
    const Split& s = out_.split;
    if (auto fits = check_kinds(); !fits) return sim::fail_as(std::move(fits));
    if (s.tp > 1) find_pairs();
    if (graph_.received >= 0) part(graph_.received) = between();
    for (int i = 0; i < static_cast<int>(graph_.operations.size()); ++i) {
      if (auto fits = place(i); !fits) return sim::fail_as(std::move(fits));
    }
    for (ValueId v = 0; v < static_cast<ValueId>(graph_.values.size()); ++v) {
      if (auto fits = check_rows(v); !fits) return sim::fail_as(std::move(fits));
    }
    for (std::size_t p = 0; p < out_.parameters.size(); ++p) {
      if (s.rows() && !out_.divided[p]) out_.summed[p] = true;
    }
    return std::move(out_);
  }

 private:
  const Operation& operation(int i) const { return graph_.operations[static_cast<std::size_t>(i)]; }
  Part& part(ValueId v) { return out_.values[static_cast<std::size_t>(v)]; }
  Parameter& parameter(ParameterId p) { return out_.parameters[static_cast<std::size_t>(p)]; }
  int tp() const { return out_.split.tp; }
  /// How values lie between layers.
  Part between() const { return out_.split.rows() ? Part::kRows : Part::kWhole; }

  static sim::Status refuse(std::string why) { return sim::fail(std::move(why), "tp"); }
  sim::Status divides(std::int64_t n, std::string_view what) const {
    if (n % tp() == 0) return {};
    return refuse(fmt::format("{} {} cannot be divided among {} tensor-parallel ranks", n, what, tp()));
  }

  sim::Status check_kinds() const {
    const Split& s = out_.split;
    if (s.tp < 1 || s.cp < 1 || s.ep < 1) return sim::fail("a model is divided among one rank at least");
    if (!(s.skew >= 1))
      return sim::fail("skew: the expert that gets most tokens gets at least the mean, so 1 or more", "skew");
    bool experts = false;
    for (const Operation& op : graph_.operations) {
      if (auto fits = check_ring(op); !fits) return fits;
      if (const auto* e = op.as<Experts>()) {
        experts = true;
        if (s.skew * e->top > e->count)
          return sim::fail(
              fmt::format("skew {}: an expert of {} gets at most {:g} times the mean, every token", s.skew,
                          e->count, static_cast<double>(e->count) / e->top),
              "skew");
        if (s.multicast() && (s.tp > 1 || s.skew > 1))
          return sim::fail(
              "multicast sends each token to as many ranks, which have whole experts: it goes neither "
              "with tensor parallelism nor with --expert-skew",
              "ep-comm");
        if (e->count % s.ep != 0)
          return sim::fail(fmt::format("{} experts cannot be divided among {} ranks", e->count, s.ep), "ep");
      }
    }
    // A part of a model may have none, where others do.
    const bool is_whole = graph_.received < 0 && graph_.sent < 0;
    if (s.ep > 1 && !experts && is_whole)
      return sim::fail("the model has no experts that could be divided among ranks", "ep");
    return {};
  }

  sim::Status check_ring(const Operation& op) const {
    if (!out_.split.ring()) return {};
    if (op.as<LatentAttention>() != nullptr)
      return sim::fail(
          "ring attention passes keys and values round, and latent attention has them compressed", "cp-comm");
    const auto* attention = op.as<Attention>();
    if (attention != nullptr && attention->cross)
      return sim::fail("ring attention cannot divide the attention to another sequence", "cp-comm");
    return {};
  }

  /// Rows of a value that are divided must come out even.
  sim::Status check_rows(ValueId v) {
    const Split& s = out_.split;
    const Shape& shape = graph_.shape(v);
    const bool sequence = shape.kind == Shape::Kind::kTokens || shape.kind == Shape::Kind::kSequence;
    if (s.cp > 1 && !sequence)
      return sim::fail(
          fmt::format("context parallelism divides sequences; the model also has {}", to_string(shape)),
          "cp");
    // Each rank has a piece from the front and one from the back.
    if (s.cp > 1 && shape.height % (2 * s.cp) != 0)
      return sim::fail(
          fmt::format("a sequence of {} tokens cannot be divided into twice {} pieces", shape.height, s.cp),
          "cp");
    if (part(v) != Part::kRows) return {};
    const std::int64_t rows = sequence ? shape.height / s.cp : recipe_.batch;
    return divides(rows, sequence ? "tokens of a sequence" : "samples");
  }

  /// The linear layer that a value reaches, or -1.
  int linear_behind(ValueId v) const {
    while (consumers_[static_cast<std::size_t>(v)].size() == 1) {
      const int i = consumers_[static_cast<std::size_t>(v)].front();
      const Operation& op = operation(i);
      if (op.as<Linear>() != nullptr) return i;
      const bool multiplies = op.join() != nullptr && op.join()->kind == Branches::Join::kMultiply;
      if (!multiplies && op.as<Activation>() == nullptr && op.as<Dropout>() == nullptr) return -1;
      v = op.output;
    }
    return -1;
  }

  bool reaches_loss(ValueId v) const {
    const auto& behind = consumers_[static_cast<std::size_t>(v)];
    return behind.size() == 1 && operation(behind.front()).as<Loss>() != nullptr;
  }

  void find_pairs() {
    for (int i = 0; i < static_cast<int>(graph_.operations.size()); ++i) {
      const Operation& op = operation(i);
      Part& mine = out_.linears[static_cast<std::size_t>(i)];
      if (op.as<Linear>() == nullptr || mine == Part::kRows) continue;
      if (reaches_loss(op.output)) mine = Part::kColumns;
      const int other = linear_behind(op.output);
      if (other < 0 || reaches_loss(operation(other).output)) continue;
      mine = Part::kColumns;
      out_.linears[static_cast<std::size_t>(other)] = Part::kRows;
    }
  }

  void shrink_rows(ParameterId p, std::int64_t by) {
    if (out_.divided[static_cast<std::size_t>(p)]) return;  // it is used twice
    parameter(p).rows = rounded_up(parameter(p).rows, by);
    out_.divided[static_cast<std::size_t>(p)] = tp() > 1;
  }
  void shrink_cols(ParameterId p, std::int64_t by) {
    parameter(p).cols = rounded_up(parameter(p).cols, by);
    out_.divided[static_cast<std::size_t>(p)] = tp() > 1;
  }
  void partial_use(ValueId v) { ++out_.partial_uses[static_cast<std::size_t>(v)]; }

  sim::Status place(int i) {
    const Operation& op = operation(i);
    if (const auto* experts = op.as<Experts>()) return place_experts(op, *experts);
    if (tp() == 1) return {};
    if (const auto* attention = op.as<Attention>()) return place_attention(op, *attention);
    if (const auto* latent = op.as<LatentAttention>()) return place_latent(op, *latent);
    if (op.as<Linear>() != nullptr) return place_linear(i);
    if (op.as<Embedding>() != nullptr) {
      shrink_rows(op.parameters[0], tp());
      part(op.output) = between();
      return {};
    }
    if (op.as<Memory>() != nullptr) return {};  // words of another sequence follow
    if (op.as<Loss>() != nullptr) return {};
    const bool passes = is_pointwise(op) || op.as<AddEmbedding>() != nullptr || op.as<Pick>() != nullptr;
    if (!passes || op.as<BatchNorm>() != nullptr)
      return refuse(fmt::format("tensor parallelism cannot divide '{}'", name_of(std::get<Layer>(op.what))));
    for (const ValueId v : op.inputs) {
      if (part(v) != part(op.inputs[0]))
        return refuse("tensor parallelism cannot divide a join of paths that are divided in different ways");
    }
    if (is_norm(op) && part(op.inputs[0]) == Part::kColumns)
      return refuse("a normalisation needs whole rows, but tensor parallelism divides its columns");
    part(op.output) = part(op.inputs[0]);
    return {};
  }

  sim::Status place_linear(int i) {
    const Operation& op = operation(i);
    const auto& l = *op.as<Linear>();
    const Part way = out_.linears[static_cast<std::size_t>(i)];
    const Part in = part(op.inputs[0]);
    if ((way == Part::kRows) != (in == Part::kColumns))
      return refuse("tensor parallelism cannot divide a product whose factors are divided in different ways");
    part(op.output) = way == Part::kRows ? between() : way == Part::kColumns ? Part::kColumns : in;
    if (way == Part::kColumns) {
      // The vocabulary is padded instead, as frameworks do it.
      if (!reaches_loss(op.output)) {
        if (auto fits = divides(l.out, "features"); !fits) return fits;
      }
      shrink_rows(op.parameters[0], tp());
      if (l.bias) shrink_cols(op.parameters[1], tp());
      partial_use(op.inputs[0]);
    } else if (way == Part::kRows) {
      shrink_cols(op.parameters[0], tp());
    }
    return {};
  }

  sim::Status place_attention(const Operation& op, const Attention& l) {
    if (auto fits = divides(l.heads, "heads"); !fits) return fits;
    if (auto fits = divides(l.value_heads(), "heads of keys and values"); !fits) return fits;
    const std::size_t stride = l.bias ? 2 : 1;
    const std::size_t last = l.joined ? stride : 3 * stride;
    for (std::size_t i = 0; i < last; i += stride) {
      shrink_rows(op.parameters[i], tp());
      if (l.bias) shrink_cols(op.parameters[i + 1], tp());
    }
    shrink_cols(op.parameters[last], tp());
    // Every rank normalises its own heads.
    for (std::size_t i = last + (l.biased_output() ? 2 : 1); i < op.parameters.size(); ++i)
      out_.summed[static_cast<std::size_t>(op.parameters[i])] = true;
    part(op.output) = between();
    partial_use(op.inputs[0]);
    if (l.cross) partial_use(op.inputs[1]);
    return {};
  }

  /// All ranks compute the projections to few features, because their results are small.
  sim::Status place_latent(const Operation& op, const LatentAttention& l) {
    if (auto fits = divides(l.heads, "heads"); !fits) return fits;
    const std::size_t n = op.parameters.size();
    shrink_rows(op.parameters[l.query_rank > 0 ? 2 : 0], tp());
    shrink_rows(op.parameters[n - 2], tp());
    shrink_cols(op.parameters[n - 1], tp());
    part(op.output) = between();
    return {};
  }

  sim::Status place_experts(const Operation& op, const Experts& l) {
    const Split& s = out_.split;
    if (tp() > 1 && !s.rows())
      return refuse(
          "experts with tensor parallelism need sequence parallelism: without it ranks would send "
          "the same tokens");
    if (auto fits = divides(l.inner, "features inside an expert"); !fits) return fits;
    const std::size_t first = op.parameters.size() - 3;
    for (std::size_t i = first; i < op.parameters.size(); ++i) {
      Parameter& p = parameter(op.parameters[i]);
      p.rows /= s.ep;
      p.parts /= s.ep;
      if (s.ep > 1) out_.axes[static_cast<std::size_t>(op.parameters[i])] = Axis::kExpertReplica;
    }
    shrink_rows(op.parameters[first], tp());
    shrink_rows(op.parameters[first + 1], tp());
    shrink_cols(op.parameters[first + 2], tp());
    if (tp() > 1) part(op.output) = between();
    return {};
  }

  const Graph& graph_;
  const Recipe& recipe_;
  Division out_;
  std::vector<std::vector<int>> consumers_;  // by value: the operations that read it
};

}  // namespace

Division undivided(const Graph& graph) {
  const std::size_t parameters = graph.parameters.size();
  return {.split = {},
          .values = std::vector<Part>(graph.values.size()),
          .linears = std::vector<Part>(graph.operations.size()),
          .parameters = graph.parameters,
          .divided = std::vector<bool>(parameters),
          .summed = std::vector<bool>(parameters),
          .axes = std::vector<Axis>(parameters, Axis::kReplica),
          .partial_uses = std::vector<int>(graph.values.size())};
}

sim::Result<Division> divide(const Graph& graph, const Recipe& recipe, const Split& split) {
  return Divider(graph, recipe, split).run();
}

}  // namespace infold::train
