// GPT-2 and what came of it: layer norms, plain networks, learned positions or none.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "formats/model/model_blocks.h"
#include "formats/model/model_families.h"

namespace infold::formats {

namespace {

constexpr int kMostGptHeads = 4096;
constexpr int kMostPositions = 1 << 30;

/// Dropout layers stand where a rate above 0 is given.
void add_dropout(ConfigKeys& keys, const LayerMaker& make, std::string_view key, double otherwise,
                 train::Nodes& nodes) {
  if (keys.real(key, otherwise) > 0) nodes.push_back(make.layer(train::Dropout{}, key));
}

train::Nodes chain(std::initializer_list<train::Node> first, train::Nodes rest = {}) {
  train::Nodes out = first;
  for (train::Node& node : rest) out.push_back(std::move(node));
  return out;
}

}  // namespace

void build_gpt2(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const int width = keys.need("n_embd", 1, train::kWidest);
  const int depth = keys.need("n_layer", 1, train::kMostRepeats);
  const int heads = keys.need("n_head", 1, kMostGptHeads);
  const int words = keys.need("vocab_size", 1, train::kWidest);
  const int positions = keys.need("n_positions", 1, train::kWidest);
  const std::int64_t wide = std::int64_t{4} * width;
  const int inner = keys.has("n_inner") ? keys.need("n_inner", 1, train::kWidest)
                                        : static_cast<int>(std::min<std::int64_t>(wide, train::kWidest));
  if (!keys.has("n_inner") && wide > train::kWidest)
    keys.complain("n_embd", "four times as wide is too wide");
  if (keys.flag("add_cross_attention", false))
    keys.complain("add_cross_attention", "a decoder beside an encoder is not known here");
  model.input.tokens = make.sequence("n_positions", positions, notes);

  train::Nodes mix = {make.layer(train::LayerNorm{}, "n_embd"),
                      make.layer(train::Attention{.heads = heads, .joined = true, .causal = true}, "n_head")};
  add_dropout(keys, make, "resid_pdrop", 0.1, mix);
  train::Nodes feed = chain({make.layer(train::LayerNorm{}, "n_embd")},
                            make.plain(width, inner, true, keys.has("n_inner") ? "n_inner" : "n_embd",
                                       "activation_function", "gelu_new"));
  add_dropout(keys, make, "resid_pdrop", 0.1, feed);
  train::Nodes block;
  block.push_back(make.residual(std::move(mix)));
  block.push_back(make.residual(std::move(feed)));

  model.layers = {make.layer(train::Embedding{.rows = words, .width = width}, "vocab_size"),
                  make.layer(train::AddEmbedding{.rows = positions}, "n_positions")};
  add_dropout(keys, make, "embd_pdrop", 0.1, model.layers);
  model.layers.push_back(make.repeat(depth, "block", std::move(block)));
  model.layers.push_back(make.layer(train::LayerNorm{}, "n_embd"));
  model.layers.push_back(
      make.layer(train::Linear{words, false, keys.flag("tie_word_embeddings", true)}, "vocab_size"));
  model.layers.push_back(make.layer(train::Loss{}, "vocab_size"));
}

void build_gpt_neox(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const int width = keys.need("hidden_size", 1, train::kWidest);
  const int depth = keys.need("num_hidden_layers", 1, train::kMostRepeats);
  const int heads = keys.need("num_attention_heads", 1, kMostGptHeads);
  const int inner = keys.need("intermediate_size", 1, train::kWidest);
  const int words = keys.need("vocab_size", 1, train::kWidest);
  const int context = keys.need("max_position_embeddings", 1, kMostPositions);
  model.input.tokens = make.sequence("max_position_embeddings", context, notes);
  const bool bias = keys.flag("attention_bias", true);
  const train::Node norm = make.layer(train::LayerNorm{}, "hidden_size");
  train::Attention a{.heads = heads, .bias = bias, .joined = true, .causal = true, .rotary = true};
  train::Nodes mix = {norm, make.layer(a, "num_attention_heads")};
  add_dropout(keys, make, "hidden_dropout", 0, mix);
  train::Nodes feed =
      chain({norm}, make.plain(width, inner, true, "intermediate_size", "hidden_act", "gelu"));
  add_dropout(keys, make, "hidden_dropout", 0, feed);
  train::Nodes block;
  if (keys.flag("use_parallel_residual", true)) {
    // x + attention(norm(x)) + network(norm(x)): the second sum is the first one's other path.
    block.push_back(make.residual(std::move(mix), {make.residual(std::move(feed))}));
  } else {
    block.push_back(make.residual(std::move(mix)));
    block.push_back(make.residual(std::move(feed)));
  }
  model.layers = {make.layer(train::Embedding{.rows = words, .width = width}, "vocab_size")};
  add_dropout(keys, make, "hidden_dropout", 0, model.layers);
  model.layers.push_back(make.repeat(depth, "block", std::move(block)));
  model.layers.push_back(norm);
  model.layers.push_back(
      make.layer(train::Linear{words, false, keys.flag("tie_word_embeddings", false)}, "vocab_size"));
  model.layers.push_back(make.layer(train::Loss{}, "vocab_size"));
}

void build_mpt(ConfigKeys& keys, train::Model& model, Notes& notes) {
  const LayerMaker make(keys);
  const int width = keys.need("d_model", 1, train::kWidest);
  const int depth = keys.need("n_layers", 1, train::kMostRepeats);
  const int heads = keys.need("n_heads", 1, kMostGptHeads);
  const int ratio = keys.number("expansion_ratio", 1, 64, 4);
  const int words = keys.need("vocab_size", 1, train::kWidest);
  const int context = keys.need("max_seq_len", 1, train::kWidest);
  const bool bias = !keys.flag("no_bias", true);
  const std::int64_t wide = std::int64_t{ratio} * width;
  if (wide > train::kWidest) keys.complain("expansion_ratio", "times d_model it is too wide");
  const int inner = static_cast<int>(std::min<std::int64_t>(wide, train::kWidest));
  model.input.tokens = make.sequence("max_seq_len", context, notes);

  train::Attention a{.heads = heads, .bias = bias, .joined = true, .causal = true};
  bool alibi = false;
  if (const config::YamlNode* node = keys.map("attn_config")) {
    ConfigKeys inside(*node, keys.file(), notes, "attn_config");
    alibi = inside.flag("alibi", false);
    a.rotary = inside.flag("rope", false);
    if (inside.has("kv_n_heads")) a.kv_heads = inside.need("kv_n_heads", 1, kMostGptHeads);
    const std::string type = inside.word("attn_type");
    if (type == "multiquery_attention") a.kv_heads = 1;
    if (inside.flag("qk_ln", false))
      inside.complain("qk_ln", "norms of queries and keys over the whole width are not known here");
    inside.finish();
    if (inside.problem())
      keys.complain({inside.problem()->place.line, inside.problem()->place.column},
                    inside.problem()->message);
  }
  if (alibi) notes.assumed.emplace_back("the bias that ALiBi adds to scores costs nothing");
  const train::Node norm = make.layer(train::LayerNorm{bias}, "d_model");
  train::Nodes mix = {norm, make.layer(a, "n_heads")};
  add_dropout(keys, make, "resid_pdrop", 0, mix);
  train::Nodes feed = chain({norm}, make.plain(width, inner, bias, "d_model", "activation", "gelu"));
  add_dropout(keys, make, "resid_pdrop", 0, feed);
  train::Nodes block;
  block.push_back(make.residual(std::move(mix)));
  block.push_back(make.residual(std::move(feed)));

  model.layers = {make.layer(train::Embedding{.rows = words, .width = width}, "vocab_size")};
  if (keys.flag("learned_pos_emb", true) && !alibi && !a.rotary)
    model.layers.push_back(make.layer(train::AddEmbedding{.rows = context}, "max_seq_len"));
  add_dropout(keys, make, "emb_pdrop", 0, model.layers);
  model.layers.push_back(make.repeat(depth, "block", std::move(block)));
  model.layers.push_back(norm);
  model.layers.push_back(
      make.layer(train::Linear{words, false, keys.flag("tie_word_embeddings", true)}, "vocab_size"));
  model.layers.push_back(make.layer(train::Loss{}, "vocab_size"));
}

}  // namespace infold::formats
