// The kinds of models (`model_type`) whose config.json is understood, with the layers that each stands for.
#pragma once

#include <span>
#include <string_view>

#include "formats/model/config_keys.h"
#include "formats/notes.h"
#include "train/model.h"

namespace infold::formats {

struct ModelFamily {
  std::string_view type;
  /// Fills input and layers; problems stay with the keys.
  void (*build)(ConfigKeys& keys, train::Model& model, Notes& notes);
};

std::span<const ModelFamily> model_families();

/// llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, deepseek_v3: rotary positions, RMS norms, gated
/// networks, some with experts.
void build_llama(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_mixtral(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_qwen2(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_qwen3(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_qwen3_moe(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_deepseek_v3(ConfigKeys& keys, train::Model& model, Notes& notes);
/// gpt2, gpt_neox, mpt: layer norms and plain networks.
void build_gpt2(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_gpt_neox(ConfigKeys& keys, train::Model& model, Notes& notes);
void build_mpt(ConfigKeys& keys, train::Model& model, Notes& notes);

}  // namespace infold::formats
