// The layers that models consist of, each with the parameters that the file of a model may give it. A number
// whose default lies outside its range must be given.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "sim/params.h"

namespace infold::train {

inline constexpr int kWidest = 1 << 20;     ///< channels, features, rows of an embedding
inline constexpr int kLargestSide = 16384;  ///< side of an image, a window, a sequence

struct Conv {
  int filters = 0;
  int size = 3;
  int stride = 1;
  int pad = -1;
  bool bias = false;
  template <class V>
  void visit(V& v) {
    v.field("filters", filters, sim::between(1, kWidest), "channels of the output");
    v.field("size", size, sim::between(1, kLargestSide), "height and width of the filter");
    v.field("stride", stride, sim::between(1, kLargestSide), "pixels from one output to the next");
    v.field("pad", pad, sim::between(-1, kLargestSide),
            "pixels added at each edge; -1: as many as keep the size at stride 1");
    v.field("bias", bias, "a number is added to each channel");
  }
  int padding() const { return pad < 0 ? (size - 1) / 2 : pad; }
};

struct Linear {
  int out = 0;
  bool bias = true;
  bool tied = false;
  template <class V>
  void visit(V& v) {
    v.field("out", out, sim::between(1, kWidest), "features of the output");
    v.field("bias", bias, "a number is added to each feature");
    v.field("tied", tied, "the matrix is that of the model's first embedding");
  }
};

struct BatchNorm {
  template <class V>
  void visit(V& /*v*/) {}
};

struct LayerNorm {
  bool bias = true;
  template <class V>
  void visit(V& v) {
    v.field("bias", bias, "a number is added to each channel");
  }
};

/// Scales by the root of the mean square, without mean and bias.
struct RmsNorm {
  template <class V>
  void visit(V& /*v*/) {}
};

struct Activation {
  enum class Kind : std::uint8_t { kRelu, kGelu, kTanh, kSilu, kSigmoid };
  Kind kind = Kind::kRelu;
  template <class V>
  void visit(V& /*v*/) {}
};

struct Dropout {
  template <class V>
  void visit(V& /*v*/) {}
};

struct Pool {
  enum class Kind : std::uint8_t { kMax, kMean };
  Kind kind = Kind::kMax;
  int size = 0;
  int stride = 0;
  int pad = 0;
  template <class V>
  void visit(V& v) {
    v.field("size", size, sim::between(0, kLargestSide),
            "height and width of the window; 0: the whole image");
    v.field("stride", stride, sim::between(0, kLargestSide),
            "pixels from one output to the next; 0: the size");
    v.field("pad", pad, sim::between(0, kLargestSide), "pixels added at each edge");
  }
};

struct Flatten {
  template <class V>
  void visit(V& /*v*/) {}
};

struct Embedding {
  int rows = 0;
  int width = 0;
  bool tied = false;
  template <class V>
  void visit(V& v) {
    v.field("rows", rows, sim::between(1, kWidest), "different tokens");
    v.field("width", width, sim::between(1, kWidest), "features of each");
    v.field("tied", tied, "the matrix is that of the model's first embedding");
  }
};

/// A second look-up (of the position, of the segment) whose result is added.
struct AddEmbedding {
  int rows = 0;
  bool positions = true;
  template <class V>
  void visit(V& v) {
    v.field("rows", rows, sim::between(0, kWidest),
            "different positions or segments; 0: as many positions as the sequence has tokens");
    v.field("positions", positions, "one row per position; sequences cannot be longer");
  }
};

/// Projections to queries, keys and values, attention, and the projection of its output.
struct Attention {
  int heads = 0;
  bool bias = true;
  bool unbiased_output = false;
  bool joined = false;
  bool causal = false;
  bool rotary = false;
  bool cross = false;
  int kv_heads = 0;
  int head_size = 0;
  bool head_norm = false;
  template <class V>
  void visit(V& v) {
    v.field("heads", heads, sim::between(1, 4096), "heads; they share the width evenly");
    v.field("kv_heads", kv_heads, sim::between(0, 4096),
            "heads of keys and values, each shared by as many heads of queries; 0: as many as heads");
    v.field("head_size", head_size, sim::between(0, 4096), "features of a head; 0: the width's share");
    v.field("head_norm", head_norm, "each head of queries and keys is scaled by its root mean square");
    v.field("bias", bias, "the projections have one");
    v.field("unbiased_output", unbiased_output, "with bias: the projection of the output has none");
    v.field("joined", joined, "queries, keys and values are projected by one matrix");
    v.field("causal", causal, "a token sees only those before it");
    v.field("rotary", rotary, "queries and keys are turned by their position");
    v.field("cross", cross, "keys and values come from what 'memory' kept");
  }
  std::int64_t query_width(std::int64_t width) const { return head_size > 0 ? heads * head_size : width; }
  bool biased_output() const { return bias && !unbiased_output; }
  int value_heads() const { return kv_heads > 0 ? kv_heads : heads; }
};

/// Multi-head latent attention (DeepSeek-V2 and V3): queries, and keys with values, are each projected to a
/// few features, normalised, and projected to all heads from there. Positions are in a part of its own.
struct LatentAttention {
  int heads = 0;
  int query_rank = 0;
  int kv_rank = 0;
  int plain_size = 0;
  int rotary_size = 0;
  int value_size = 0;
  bool causal = true;
  template <class V>
  void visit(V& v) {
    v.field("heads", heads, sim::between(1, 4096), "heads");
    v.field("query_rank", query_rank, sim::between(0, kWidest),
            "features between the two projections of queries; 0: one projection");
    v.field("kv_rank", kv_rank, sim::between(1, kWidest), "features that keys and values are made from");
    v.field("plain_size", plain_size, sim::between(1, 4096), "features of a key without its position");
    v.field("rotary_size", rotary_size, sim::between(1, 4096),
            "features of a key with its position, the same for all heads");
    v.field("value_size", value_size, sim::between(1, 4096), "features of a value of a head");
    v.field("causal", causal, "a token sees only those before it");
  }
  std::int64_t key_size() const { return plain_size + rotary_size; }
};

/// A router and the experts that it sends each token to: gated networks of three matrices.
struct Experts {
  int count = 0;
  int top = 0;
  int inner = 0;
  bool balance = false;
  template <class V>
  void visit(V& v) {
    v.field("count", count, sim::between(1, 4096), "experts");
    v.field("top", top, sim::between(1, 4096), "experts that each token is sent to");
    v.field("inner", inner, sim::between(1, kWidest), "features inside an expert");
    v.field("balance", balance, "the router adds a number to each expert's score, to balance their load");
  }
};

/// Only some tokens of each sequence are passed on.
struct Pick {
  int tokens = 0;
  int percent = 0;
  template <class V>
  void visit(V& v) {
    v.field("tokens", tokens, sim::between(0, kLargestSide), "tokens of each sequence");
    v.field("percent", percent, sim::between(0, 100), "or this share of them");
  }
};

/// The current value is kept for cross attention, and the path begins again with the second input.
struct Memory {
  template <class V>
  void visit(V& /*v*/) {}
};

/// Dot products of all pairs among the input and further vectors of its width that come from elsewhere.
struct Interact {
  int features = 0;
  template <class V>
  void visit(V& v) {
    v.field("features", features, sim::between(1, 4096),
            "vectors that come from elsewhere (embedding tables)");
  }
};

/// Softmax and cross entropy over the channels.
struct Loss {
  template <class V>
  void visit(V& /*v*/) {}
};

using Layer =
    std::variant<Conv, Linear, BatchNorm, LayerNorm, RmsNorm, Activation, Dropout, Pool, Flatten, Embedding,
                 AddEmbedding, Attention, LatentAttention, Experts, Pick, Memory, Interact, Loss>;

/// A name as model files write it, the layer it stands for, and what that does.
struct LayerName {
  std::string_view name;
  Layer layer;
  std::string_view about;
};
std::span<const LayerName> layer_names();
/// Null when there is no such layer.
const LayerName* find_layer(std::string_view name);
std::string_view name_of(const Layer& layer);

}  // namespace infold::train
