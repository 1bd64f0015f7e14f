// Llama and those that differ from it in one block: biases, norms of heads, routed experts, latent attention.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "formats/model/model_blocks.h"
#include "formats/model/model_families.h"

namespace infold::formats {

namespace {

constexpr int kMostHeads = 4096;
constexpr int kMostExperts = 4096;
constexpr int kMostTokens = 1 << 30;

/// What every kind of this file has.
struct Frame {
  int width = 0;
  int depth = 0;
  int words = 0;
  bool tied = false;
};

Frame read_frame(ConfigKeys& keys, const LayerMaker& make, train::Model& model, Notes& notes) {
  Frame f;
  f.width = keys.need("hidden_size", 1, train::kWidest);
  f.depth = keys.need("num_hidden_layers", 1, train::kMostRepeats);
  f.words = keys.need("vocab_size", 1, train::kWidest);
  f.tied = keys.flag("tie_word_embeddings", false);
  const int context = keys.need("max_position_embeddings", 1, kMostTokens);
  model.input.tokens = make.sequence("max_position_embeddings", context, notes);
  const bool slides = keys.has("sliding_window") && keys.flag("use_sliding_window", true);
  if (slides && keys.number("sliding_window", 1, kMostTokens, 0) < model.input.tokens)
    notes.assumed.emplace_back("attention sees the whole sequence, not only sliding_window tokens");
  return f;
}

/// Embedding, the blocks, the last norm, and the projection to words.
void frame(const Frame& f, const LayerMaker& make, train::Nodes blocks, train::Model& model) {
  model.layers.push_back(make.layer(train::Embedding{.rows = f.words, .width = f.width}, "vocab_size"));
  for (train::Node& block : blocks) model.layers.push_back(std::move(block));
  model.layers.push_back(make.layer(train::RmsNorm{}, "hidden_size"));
  model.layers.push_back(make.layer(train::Linear{f.words, false, f.tied}, "vocab_size"));
  model.layers.push_back(make.layer(train::Loss{}, "vocab_size"));
}

struct Heads {
  bool bias = false;
  bool output_bias = false;
  bool head_norm = false;
  int size = 0;  ///< of a head, where the file does not say; 0: the width's share
};

train::Node attention(ConfigKeys& keys, const LayerMaker& make, int width, const Heads& heads) {
  train::Attention a;
  a.heads = keys.need("num_attention_heads", 1, kMostHeads);
  a.kv_heads = keys.number("num_key_value_heads", 1, kMostHeads, a.heads, "as many as heads");
  const int otherwise = heads.size > 0 ? heads.size : width / a.heads;
  a.head_size =
      keys.has("head_dim") || heads.size > 0 ? keys.number("head_dim", 1, kMostHeads, otherwise) : 0;
  if (a.head_size * a.heads == width) a.head_size = 0;
  if (a.kv_heads == a.heads) a.kv_heads = 0;
  a.bias = heads.bias;
  a.unbiased_output = heads.bias && !heads.output_bias;
  a.head_norm = heads.head_norm;
  a.causal = true;
  a.rotary = true;
  return make.layer(a, "num_attention_heads");
}

train::Nodes block_of(const LayerMaker& make, train::Node mix, train::Nodes feed) {
  train::Node norm = make.layer(train::RmsNorm{}, "hidden_size");
  train::Nodes first = {norm, std::move(mix)};
  train::Nodes second = {norm};
  for (train::Node& node : feed) second.push_back(std::move(node));
  train::Nodes block;
  block.push_back(make.residual(std::move(first)));
  block.push_back(make.residual(std::move(second)));
  return block;
}

void build_dense(ConfigKeys& keys, train::Model& model, Notes& notes, const Heads& heads) {
  const LayerMaker make(keys);
  const Frame f = read_frame(keys, make, model, notes);
  const int inner = keys.need("intermediate_size", 1, train::kWidest);
  train::Nodes feed = make.gated(f.width, inner, keys.flag("mlp_bias", false), "intermediate_size");
  train::Nodes blocks;
  blocks.push_back(
      make.repeat(f.depth, "block", block_of(make, attention(keys, make, f.width, heads), std::move(feed))));
  frame(f, make, std::move(blocks), model);
}

/// Blocks of two kinds, in the order that `is_sparse` says.
train::Nodes mixed(const LayerMaker& make, int depth, const std::function<bool(int)>& is_sparse,
                   const train::Nodes& dense, const train::Nodes& sparse) {
  train::Nodes blocks;
  for (int begin = 0; begin < depth;) {
    int end = begin + 1;
    while (end < depth && is_sparse(end) == is_sparse(begin)) ++end;
    blocks.push_back(is_sparse(begin) ? make.repeat(end - begin, "routed", sparse)
                                      : make.repeat(end - begin, "block", dense));
    begin = end;
  }
  return blocks;
}

}  // namespace

void build_llama(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const bool bias = keys.flag("attention_bias", false);
  build_dense(keys, model, notes, {.bias = bias, .output_bias = bias});
}

void build_qwen2(ConfigKeys& keys, train::Model& model, Notes& notes) {
  build_dense(keys, model, notes, {.bias = true, .output_bias = false});
}

void build_qwen3(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const bool bias = keys.flag("attention_bias", false);
  build_dense(keys, model, notes, {.bias = bias, .output_bias = bias, .head_norm = true, .size = 128});
}

void build_mixtral(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const Frame f = read_frame(keys, make, model, notes);
  train::Experts experts;
  experts.count = keys.need("num_local_experts", 1, kMostExperts);
  experts.top = keys.need("num_experts_per_tok", 1, kMostExperts);
  experts.inner = keys.need("intermediate_size", 1, train::kWidest);
  make.activation("hidden_act", "silu");  // an expert's is always silu here; others are refused
  train::Nodes feed = {make.layer(experts, "num_local_experts")};
  train::Nodes blocks;
  blocks.push_back(
      make.repeat(f.depth, "block", block_of(make, attention(keys, make, f.width, {}), std::move(feed))));
  frame(f, make, std::move(blocks), model);
}

void build_qwen3_moe(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const Frame f = read_frame(keys, make, model, notes);
  const bool bias = keys.flag("attention_bias", false);
  const train::Node mix =
      attention(keys, make, f.width, {.bias = bias, .output_bias = bias, .head_norm = true, .size = 128});
  train::Experts experts;
  experts.count = keys.need("num_experts", 1, kMostExperts);
  experts.top = keys.need("num_experts_per_tok", 1, kMostExperts);
  experts.inner = keys.need("moe_intermediate_size", 1, train::kWidest);
  const int inner = keys.need("intermediate_size", 1, train::kWidest);
  const int step = keys.number("decoder_sparse_step", 1, train::kMostRepeats, 1);
  const std::vector<int> dense_layers = keys.numbers("mlp_only_layers", 0, train::kMostRepeats);
  const train::Nodes dense = block_of(make, mix, make.gated(f.width, inner, false, "intermediate_size"));
  const train::Nodes sparse = block_of(make, mix, {make.layer(experts, "num_experts")});
  const auto is_sparse = [&](int layer) {
    return (layer + 1) % step == 0 && std::ranges::find(dense_layers, layer) == dense_layers.end();
  };
  frame(f, make, mixed(make, f.depth, is_sparse, dense, sparse), model);
}

void build_deepseek_v3(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const Frame f = read_frame(keys, make, model, notes);
  train::LatentAttention a;
  a.heads = keys.need("num_attention_heads", 1, kMostHeads);
  a.query_rank = keys.has("q_lora_rank") ? keys.need("q_lora_rank", 1, train::kWidest) : 0;
  a.kv_rank = keys.need("kv_lora_rank", 1, train::kWidest);
  a.plain_size = keys.need("qk_nope_head_dim", 1, kMostHeads);
  a.rotary_size = keys.need("qk_rope_head_dim", 1, kMostHeads);
  a.value_size = keys.need("v_head_dim", 1, kMostHeads);
  const train::Node mix = make.layer(a, "num_attention_heads");
  train::Experts experts;
  experts.count = keys.need("n_routed_experts", 1, kMostExperts);
  experts.top = keys.need("num_experts_per_tok", 1, kMostExperts);
  experts.inner = keys.need("moe_intermediate_size", 1, train::kWidest);
  const std::string method = keys.word("topk_method");
  experts.balance = method.empty() || method == "noaux_tc";
  const int inner = keys.need("intermediate_size", 1, train::kWidest);
  const int first = keys.number("first_k_dense_replace", 0, train::kMostRepeats, 0);
  const int step = keys.number("moe_layer_freq", 1, train::kMostRepeats, 1);
  const int shared = keys.has("n_shared_experts") ? keys.need("n_shared_experts", 1, kMostExperts) : 0;
  if (keys.flag("attention_bias", false))
    keys.complain("attention_bias", "latent attention has no biases here");
  if (keys.has("num_nextn_predict_layers"))
    notes.assumed.emplace_back("without the module that predicts further tokens (num_nextn_predict_layers)");

  const train::Nodes dense = block_of(make, mix, make.gated(f.width, inner, false, "intermediate_size"));
  const train::Node routed = make.layer(experts, "n_routed_experts");
  train::Nodes feed = {routed};
  if (shared > 0) {
    // Experts that every token goes to are one network that is as much wider.
    const auto wide = std::int64_t{shared} * experts.inner;
    if (wide > train::kWidest) keys.complain("n_shared_experts", "together they are too wide");
    train::Nodes beside = make.gated(f.width, wide > train::kWidest ? experts.inner : static_cast<int>(wide),
                                     false, "n_shared_experts");
    feed = {make.residual({routed}, std::move(beside))};
  }
  const train::Nodes sparse = block_of(make, mix, std::move(feed));
  const auto is_sparse = [&](int layer) { return layer >= first && layer % step == 0; };
  frame(f, make, mixed(make, f.depth, is_sparse, dense, sparse), model);
}

}  // namespace infold::formats
