// The table of layers.
#include "train/layers.h"

#include "sim/find_named.h"

namespace infold::train {

namespace {
constexpr Activation activation(Activation::Kind kind) {
  return {kind};
}
constexpr Pool pool(Pool::Kind kind) {
  Pool p;
  p.kind = kind;
  return p;
}

const std::array kLayers = {
    LayerName{"conv", Conv{}, "convolution over an image"},
    LayerName{"linear", Linear{}, "every position's channels times a matrix"},
    LayerName{"batch-norm", BatchNorm{}, "normalises each channel over the batch"},
    LayerName{"layer-norm", LayerNorm{}, "normalises each position over its channels"},
    LayerName{"rms-norm", RmsNorm{}, "scales each position by its root mean square"},
    LayerName{"relu", activation(Activation::Kind::kRelu), "max(x, 0)"},
    LayerName{"gelu", activation(Activation::Kind::kGelu), "x times the normal distribution's integral"},
    LayerName{"tanh", activation(Activation::Kind::kTanh), "hyperbolic tangent"},
    LayerName{"silu", activation(Activation::Kind::kSilu), "x times its sigmoid"},
    LayerName{"sigmoid", activation(Activation::Kind::kSigmoid), "1 / (1 + exp(-x))"},
    LayerName{"dropout", Dropout{}, "drops some values at random"},
    LayerName{"max-pool", pool(Pool::Kind::kMax), "the largest of a window"},
    LayerName{"mean-pool", pool(Pool::Kind::kMean), "the mean of a window"},
    LayerName{"flatten", Flatten{}, "an image as one vector"},
    LayerName{"embedding", Embedding{}, "a vector for each token"},
    LayerName{"add-embedding", AddEmbedding{}, "adds a vector for each position or segment"},
    LayerName{"attention", Attention{}, "multi-head attention with its four projections"},
    LayerName{"latent-attention", LatentAttention{},
              "attention whose keys and values are made from a few features (MLA)"},
    LayerName{"experts", Experts{}, "a router, and the gated experts that it sends each token to"},
    LayerName{"pick", Pick{}, "only some tokens of each sequence go on"},
    LayerName{"memory", Memory{},
              "keeps the encoder's output for cross attention; the decoder's input follows"},
    LayerName{"interact", Interact{}, "dot products of all pairs of feature vectors (DLRM)"},
    LayerName{"loss", Loss{}, "softmax and cross entropy"},
};

/// Layers of one type that have several names differ in their kind.
bool same_name(const Layer& a, const Layer& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<Activation>(&a)) return x->kind == std::get<Activation>(b).kind;
  if (const auto* x = std::get_if<Pool>(&a)) return x->kind == std::get<Pool>(b).kind;
  return true;
}
}  // namespace

std::span<const LayerName> layer_names() {
  return kLayers;
}

const LayerName* find_layer(std::string_view name) {
  return sim::find_named(kLayers, name);
}

std::string_view name_of(const Layer& layer) {
  for (const LayerName& l : kLayers) {
    if (same_name(l.layer, layer)) return l.name;
  }
  return "?";
}

}  // namespace infold::train
