// config.json files: published parameter counts, presets that are the same model, what is noted, and how
// wrong files are refused.
#include "formats/model/hugging_face.h"

#include "config/catalog.h"
#include "config/model_dump.h"
#include "formats/catalog.h"
#include "helpers.h"
#include "train/graph.h"

namespace infold::formats {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::string_view kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
  "max_position_embeddings": 8192, "hidden_act": "silu", "tie_word_embeddings": false, "rope_theta": 500000.0
})";
constexpr std::string_view kMixtral =
    R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "sliding_window": null,
  "max_position_embeddings": 32768, "num_local_experts": 8, "num_experts_per_tok": 2, "tie_word_embeddings": false})";
constexpr std::string_view kQwen3Moe =
    R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
  "moe_intermediate_size": 768, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
  "vocab_size": 151936, "max_position_embeddings": 40960, "num_experts": 128, "num_experts_per_tok": 8,
  "decoder_sparse_step": 1, "mlp_only_layers": [], "tie_word_embeddings": false})";
constexpr std::string_view kGpt2 =
    R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
  "n_ctx": 1024, "vocab_size": 50257, "activation_function": "gelu_new", "resid_pdrop": 0.1, "embd_pdrop": 0.1})";
constexpr std::string_view kDeepSeek =
    R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
  "moe_intermediate_size": 2048, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
  "vocab_size": 129280, "max_position_embeddings": 163840, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1})";

ModelImport taken_model(std::string_view text) {
  auto read = read_hugging_face(text, "config.json", "config");
  EXPECT_EQ(error_of(read), "");
  return read ? std::move(*read) : ModelImport{};
}
std::int64_t parameters(std::string_view text) {
  const auto graph = train::build_graph(taken_model(text).model);
  return graph ? graph->parameter_count() : 0;
}
std::string model_refusal(std::string_view text) {
  return error_of(read_hugging_face(text, "config.json", "config"));
}
/// The text with one piece of it replaced.
std::string with(std::string_view text, std::string_view old, std::string_view now) {
  std::string out(text);
  const std::size_t at = out.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return out.replace(at, old.size(), now);
}

TEST(HuggingFace, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(parameters(kLlama), 8'030'261'248);
  EXPECT_EQ(parameters(kMixtral), 46'702'792'704);
  EXPECT_EQ(parameters(kQwen3Moe), 30'532'122'624);
  EXPECT_EQ(parameters(kGpt2), 124'439'808);
  EXPECT_EQ(parameters(kDeepSeek), 671'026'419'200);
  // Mistral-7B-v0.1
  EXPECT_EQ(
      parameters(
          R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 32768,
    "sliding_window": 4096})"),
      7'241'732'096);
  // Qwen2-7B: biases of queries, keys and values, none of the output
  EXPECT_EQ(
      parameters(
          R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "max_position_embeddings": 131072,
    "use_sliding_window": false, "sliding_window": 131072})"),
      7'615'616'512);
  // Qwen3-0.6B: heads of 128 where the width's share is 64, norms of heads, tied
  EXPECT_EQ(
      parameters(
          R"({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
    "max_position_embeddings": 40960, "tie_word_embeddings": true})"),
      596'049'920);
  // Pythia-6.9B
  EXPECT_EQ(
      parameters(
          R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384, "num_hidden_layers": 32,
    "num_attention_heads": 32, "vocab_size": 50432, "max_position_embeddings": 2048, "use_parallel_residual": true})"),
      6'857'302'016);
  // MPT-7B: no biases, no table of positions
  EXPECT_EQ(parameters(
                R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4,
    "vocab_size": 50432, "max_seq_len": 2048, "no_bias": true, "attn_config": {"alibi": true, "attn_type": "multihead_attention"}})"),
            6'649'286'656);
}

TEST(HuggingFace, IsTheModelOfThePreset) {
  const std::array<std::pair<std::string_view, std::string_view>, 5> same = {{{"llama3-8b", kLlama},
                                                                              {"mixtral-8x7b", kMixtral},
                                                                              {"qwen3-30b-a3b", kQwen3Moe},
                                                                              {"gpt2-small", kGpt2},
                                                                              {"deepseek-v3", kDeepSeek}}};
  for (const auto& [preset, text] : same) {
    const auto ours = config::load_model(preset);
    ASSERT_EQ(error_of(ours), "");
    const auto expected = train::build_graph(*ours);
    const auto graph = train::build_graph(taken_model(text).model);
    ASSERT_TRUE(expected && graph) << preset;
    ASSERT_EQ(graph->operations.size(), expected->operations.size()) << preset;
    for (std::size_t i = 0; i < graph->operations.size(); ++i) {
      EXPECT_EQ(graph->operations[i].what.index(), expected->operations[i].what.index())
          << preset << " " << i;
      EXPECT_EQ(graph->operations[i].forward_flops, expected->operations[i].forward_flops)
          << preset << " " << i;
    }
    EXPECT_EQ(graph->active_parameter_count(), expected->active_parameter_count()) << preset;
    EXPECT_EQ(graph->forward_flops(), expected->forward_flops()) << preset;
  }
}

TEST(HuggingFace, NotesWhatItAssumedAndWhatItDidNotUse) {
  const ModelImport llama = taken_model(kLlama);
  EXPECT_TRUE(llama.notes.assumed.empty());
  EXPECT_THAT(llama.notes.ignored, testing::ElementsAre("architectures", "rope_theta"));
  EXPECT_THAT(llama.model.sources, Contains("not used: architectures, rope_theta"));
  EXPECT_THAT(taken_model(kMixtral).notes.assumed,
              testing::ElementsAre(
                  "sequences of 4096 tokens, of at most 32768 (max_position_embeddings); --seq changes it"));
  const auto alone = taken_model(with(kLlama, "\"num_key_value_heads\": 8, ", "")).notes;
  EXPECT_THAT(alone.assumed, testing::ElementsAre("num_key_value_heads is 32, as many as heads"));
  EXPECT_THAT(taken_model(kDeepSeek).notes.assumed, Contains(HasSubstr("num_nextn_predict_layers")));
  EXPECT_THAT(
      taken_model(with(kLlama, "\"hidden_act\"", "\"sliding_window\": 100, \"hidden_act\"")).notes.assumed,
      testing::ElementsAre("attention sees the whole sequence, not only sliding_window tokens"));
}

TEST(HuggingFace, IsNamedByTheFileOrElseByItsPlace) {
  EXPECT_EQ(taken_model(kLlama).model.name, "config");
  EXPECT_EQ(
      taken_model(with(kLlama, "\"architectures\"", "\"_name_or_path\": \"meta/Llama 3\", \"architectures\""))
          .model.name,
      "Llama-3");
  EXPECT_EQ(taken_model(kLlama).model.summary, "llama of Hugging Face, 8.03 G parameters");
}

TEST(HuggingFace, RoutesOnlyTheLayersThatTheFileSays) {
  // Layers 1 and 3 of 4 have experts, layer 3 is excepted.
  const std::string text =
      with(with(with(kQwen3Moe, "\"decoder_sparse_step\": 1", "\"decoder_sparse_step\": 2"), "[]", "[3]"),
           "\"num_hidden_layers\": 48", "\"num_hidden_layers\": 4");
  const auto graph = train::build_graph(taken_model(text).model);
  ASSERT_TRUE(graph);
  std::vector<bool> routed;
  for (const train::Operation& op : graph->operations) {
    if (op.as<train::Experts>() != nullptr) routed.push_back(true);
    if (const auto* join = op.join(); join != nullptr && join->kind == train::Branches::Join::kMultiply)
      routed.push_back(false);
  }
  EXPECT_EQ(routed, (std::vector<bool>{false, true, false, false}));
}

TEST(HuggingFace, RefusesWhatItDoesNotKnowWithItsPlace) {
  EXPECT_EQ(model_refusal(R"({"model_type": "lama"})"),
            "config.json:1:16: model_type: 'lama' is not known (did you mean 'llama'?) (known are llama, "
            "mistral, mixtral, qwen2, "
            "qwen3, qwen3_moe, gpt2, gpt_neox, mpt, deepseek_v3)");
  EXPECT_EQ(model_refusal(R"({"hidden_size": 1})"), "config.json:1:1: 'model_type' is missing");
  EXPECT_EQ(model_refusal(with(kLlama, "\"vocab_size\": 128256,", "")),
            "config.json:1:1: 'vocab_size' is missing");
  EXPECT_EQ(model_refusal(with(kLlama, "128256", "\"many\"")),
            "config.json:3:95: vocab_size: 'many' is not a whole number");
  EXPECT_EQ(model_refusal(with(kLlama, "128256", "0")),
            "config.json:3:95: vocab_size: 0 is not between 1 and 1048576");
  EXPECT_EQ(model_refusal(with(kLlama, "\"silu\"", "\"sillu\"")),
            "config.json:4:36: hidden_act: unknown activation 'sillu' (did you mean 'silu'?)");
  EXPECT_EQ(model_refusal(with(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 7")),
            "config.json:3:28: 32 heads cannot share 7 heads of keys and values evenly");
  EXPECT_EQ(model_refusal(with(kLlama, "false", "\"no\"")),
            "config.json:4:81: tie_word_embeddings: expected true or false");
  EXPECT_EQ(model_refusal("[1]"), "config.json:1:1: expected a map, not a list");
  EXPECT_THAT(model_refusal(with(kMixtral, "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 9")),
              HasSubstr("a token cannot be sent to 9 of 8 experts"));
}

class HuggingFaceFile : public FolderTest {};

TEST_F(HuggingFaceFile, IsAModelWhereverOneIsTaken) {
  const std::string plain = write("Llama-3-8B/config.json", kLlama);
  const auto model = load_model(plain);
  ASSERT_EQ(error_of(model), "");
  EXPECT_EQ(model->name, "Llama-3-8B");
  EXPECT_EQ(error_of(load_model(write("x.json.gz", packed(kLlama)))), "");
  EXPECT_EQ(error_of(load_model("llama3-8b")), "");
  const std::string plan = write("t.xml", "<system version=\"1\"/>");
  EXPECT_EQ(error_of(load_model(plan)), plan + ": this is a topology file of NCCL or RCCL, expected a model");
}

TEST_F(HuggingFaceFile, IsTheSameModelAsYaml) {
  int number = 0;
  for (const std::string_view text : {kLlama, kMixtral, kQwen3Moe, kGpt2, kDeepSeek}) {
    const train::Model model = taken_model(text).model;
    const auto again = config::load_model(write(fmt::format("{}.yaml", number++), config::to_yaml(model)));
    ASSERT_EQ(error_of(again), "");
    EXPECT_EQ(again->name, model.name);
    EXPECT_EQ(again->sources, model.sources);
    const auto first = train::build_graph(model);
    const auto second = train::build_graph(*again);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->operations.size(), second->operations.size());
    EXPECT_EQ(first->parameter_count(), second->parameter_count());
    EXPECT_EQ(first->forward_flops(), second->forward_flops());
  }
}

TEST_F(HuggingFaceFile, YamlOfEveryPresetIsTheSameModel) {
  for (const config::PresetInfo& info : config::list_models()) {
    const auto model = config::load_model(info.name);
    ASSERT_EQ(error_of(model), "");
    const auto again = config::load_model(write(info.name + ".yaml", config::to_yaml(*model)));
    ASSERT_EQ(error_of(again), "") << info.name;
    const auto first = train::build_graph(*model);
    const auto second = train::build_graph(*again);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->parameter_count(), second->parameter_count()) << info.name;
    EXPECT_EQ(first->forward_flops(), second->forward_flops()) << info.name;
  }
}

}  // namespace
}  // namespace infold::formats
