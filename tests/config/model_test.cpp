// Models: what the presets count, what a file may say, and how a wrong one is refused.
#include <cmath>

#include "config/catalog.h"
#include "config/yaml/source.h"
#include "helpers.h"
#include "train/graph.h"

namespace infold::config {
namespace {

using ::testing::HasSubstr;

train::Graph graph_of(std::string_view name, int sequence = 0) {
  const sim::Result<train::Model> model = load_model(name);
  EXPECT_EQ(error_of(model), "");
  auto graph = train::build_graph(model.value(), sequence);
  EXPECT_TRUE(graph) << name;
  return graph.value();
}

TEST(Models, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(graph_of("resnet50").parameter_count(), 25'557'032);
  EXPECT_EQ(graph_of("resnet101").parameter_count(), 44'549'160);
  EXPECT_EQ(graph_of("vgg16").parameter_count(), 138'357'544);
  EXPECT_EQ(graph_of("lenet").parameter_count(), 61'706);
  // 334,092,288 and the heads: pooler, next sentence, transform of the masked words, their bias.
  EXPECT_EQ(graph_of("bert-large").parameter_count(),
            334'092'288 + 1'049'600 + 2'050 + 1'049'600 + 2'048 + 30'522);
  EXPECT_EQ(graph_of("gpt2-small").parameter_count(), 124'439'808);
  EXPECT_EQ(graph_of("gpt2-medium").parameter_count(), 354'823'168);
  EXPECT_EQ(graph_of("gpt2-xl").parameter_count(), 1'557'611'200);
  EXPECT_EQ(graph_of("llama2-7b").parameter_count(), 6'738'415'616);
  EXPECT_NEAR(static_cast<double>(graph_of("transformer-big").parameter_count()), 210.7e6, 0.05e6);
  EXPECT_EQ(graph_of("dlrm").parameter_count(), 2'368'897);
  EXPECT_EQ(graph_of("mlp").parameter_count(), 784 * 4096 + 4096 + 3 * (4096 * 4096 + 4096) + 4096 * 10 + 10);
}

TEST(Models, OfTransformerFamiliesHaveThePublishedNumberOfParameters) {
  const std::pair<const char*, std::int64_t> published[] = {
      {"gpt3-175b", 174'604'259'328},   {"mpt-125m", 125'311'488},        {"mpt-350m", 355'985'408},
      {"mpt-760m", 760'470'528},        {"mpt-1b", 1'315'950'592},        {"mpt-3b", 2'651'837'440},
      {"mpt-7b", 6'658'859'008},        {"mpt-13b", 12'853'954'560},      {"mpt-30b", 29'975'214'080},
      {"mpt-70b", 64'862'437'376},      {"llama3-8b", 8'030'261'248},     {"llama3-70b", 70'553'706'496},
      {"llama3-405b", 405'853'388'800}, {"mixtral-8x7b", 46'702'792'704}, {"qwen3-30b-a3b", 30'532'122'624},
      {"deepseek-v3", 671'026'419'200},
  };
  for (const auto& [name, count] : published) EXPECT_EQ(graph_of(name).parameter_count(), count) << name;
}

TEST(Models, OfRoutedExpertsOnlySomeParametersAreActive) {
  EXPECT_EQ(graph_of("mixtral-8x7b").active_parameter_count(), 12'879'925'248);
  EXPECT_EQ(graph_of("qwen3-30b-a3b").active_parameter_count(), 3'353'032'704);
  EXPECT_EQ(graph_of("deepseek-v3").active_parameter_count(), 37'552'297'472);
  EXPECT_EQ(graph_of("llama3-8b").active_parameter_count(), 8'030'261'248);
}

TEST(Models, LearnedPositionsOfMptGrowWithTheSequence) {
  EXPECT_EQ(graph_of("mpt-3b", 4096).parameter_count(), 2'657'080'320);
  EXPECT_EQ(graph_of("mpt-13b", 4096).parameter_count(), 12'864'440'320);
}

TEST(Models, NeedThePublishedOperations) {
  EXPECT_NEAR(graph_of("resnet50").forward_flops(), 8.18e9, 0.01e9);
  EXPECT_NEAR(graph_of("vgg16").forward_flops(), 30.94e9, 0.01e9);
}

/// The largest operation of one layer of a transformer, summed over the layer, per token.
double flops_per_token_and_layer(std::string_view name, int depth, double head, double tokens) {
  return (graph_of(name).forward_flops() - head) / depth / tokens;
}

TEST(Models, NeedThePublishedOperationsPerTokenAndLayer) {
  const double gpt2_head = 2.0 * 1024 * 1024 * 50257;
  EXPECT_NEAR(flops_per_token_and_layer("gpt2-medium", 24, gpt2_head, 1024), 29.4e6, 0.05e6);
  EXPECT_NEAR(flops_per_token_and_layer("gpt2-xl", 48, gpt2_head / 1024 * 1600, 1024), 68.0e6, 0.05e6);
  EXPECT_NEAR(flops_per_token_and_layer("llama2-7b", 32, 2.0 * 4096 * 4096 * 32000, 4096), 472e6, 0.5e6);
  const double bert_heads = 2.0 * 77 * 1024 * (1024 + 30522) + 2.0 * 1024 * (1024 + 2);
  EXPECT_NEAR(flops_per_token_and_layer("bert-large", 24, bert_heads, 512), 27.3e6, 0.05e6);
}

TEST(Models, EveryPresetLoadsAndSaysWhatItIs) {
  const auto models = list_models();
  EXPECT_EQ(models.size(), preset_names(FileKind::kModel).size());
  EXPECT_EQ(models.size(), 28U);
  for (const PresetInfo& m : models) EXPECT_FALSE(m.summary.empty()) << m.name;
}

TEST(Models, ResNetsStagesCountAsPublished) {
  const train::Graph g = graph_of("resnet50");
  double conv1 = 0;
  double stages = 0;
  for (const auto& op : g.operations) {
    if (op.as<train::Conv>() == nullptr) continue;
    (conv1 == 0 ? conv1 : stages) += op.forward_flops;
  }
  EXPECT_NEAR(conv1, 0.24e9, 0.005e9);
  EXPECT_NEAR(stages, (1.34 + 2.06 + 2.93 + 1.62) * 1e9, 0.02e9);
}

TEST(Models, ASequenceCanBeShorterButNotLongerThanItsPositions) {
  EXPECT_LT(graph_of("bert-large", 128).forward_flops(), graph_of("bert-large").forward_flops() / 3.9);
  const auto model = load_model("bert-large");
  const auto graph = train::build_graph(model.value(), 1024);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "a sequence of 1024 tokens, but only 512 positions");
}

using ModelFiles = ScratchTest;

TEST_F(ModelFiles, ChangeAParameterOfTheirBase) {
  const std::string path = write("mine.yaml", "kind: model\nbase: gpt2-small\nparameters: {depth: 6}\n");
  const sim::Result<train::Model> r = load_model(path);
  ASSERT_EQ(error_of(r), "");
  EXPECT_EQ(r.value().name, "mine");
  EXPECT_EQ(graph_of(path).parameter_count(), 124'439'808 - 6 * 7'087'872);
}

TEST_F(ModelFiles, ReplaceOneBlockOfTheirBase) {
  const std::string path = write("mine.yaml",
                                 "kind: model\nbase: vgg16\nblocks:\n  hidden:\n    layers:\n"
                                 "      - linear: {out: 100 + 28}\n");
  EXPECT_EQ(graph_of(path).parameter_count(), 14'714'688 + 25'088 * 128 + 128 + 128 * 128 + 128 + 129 * 1000);
}

TEST_F(ModelFiles, AreRefusedWhenPathsDoNotFit) {
  const std::string path = write("m.yaml",
                                 "kind: model\ninput: {features: 8}\nlayers:\n  - residual:\n"
                                 "      - linear: {out: 4}\n  - loss\n");
  EXPECT_EQ(error(load_model(path)), "m.yaml:4:5: the paths do not fit together: 4 and 8");
}

TEST_F(ModelFiles, AreRefusedWhenHeadsOrExpertsDoNotFit) {
  const auto why = [&](const std::string& layer) {
    const std::string path = write("m.yaml",
                                   "kind: model\ninput: {tokens: 8}\nlayers:\n"
                                   "  - embedding: {rows: 16, width: 64}\n  - " +
                                       layer + "\n  - linear: {out: 16}\n  - loss\n");
    return error(load_model(path));
  };
  EXPECT_EQ(why("attention: {heads: 8, kv_heads: 3}"),
            "m.yaml:5:5: 8 heads cannot share 3 heads of keys and values evenly");
  EXPECT_EQ(why("attention: {heads: 6}"), "m.yaml:5:5: a width of 64 cannot be shared by 6 heads");
  EXPECT_EQ(why("experts: {count: 4, top: 5, inner: 32}"),
            "m.yaml:5:5: a token cannot be sent to 5 of 4 experts");
  EXPECT_EQ(why("experts: {count: 4, inner: 32}"), "m.yaml:5:5: experts needs 'top'");
  EXPECT_EQ(why("latent-attention: {heads: 4, plain_size: 16, rotary_size: 8, value_size: 16}"),
            "m.yaml:5:5: latent-attention needs 'kv_rank'");
  EXPECT_EQ(why("add-embedding: {positions: false}"), "m.yaml:5:5: add-embedding: segments need 'rows'");
}

TEST_F(ModelFiles, AnErrorInABasesBlockIsReportedThere) {
  write("base.yaml",
        "kind: model\ninput: {features: 8}\nparameters: {n: 4}\nblocks:\n  b:\n    layers:\n"
        "      - linear: {out: 8 / n}\nlayers: [b, loss]\n");
  const std::string path = write("mine.yaml", "kind: model\nbase: base.yaml\nparameters: {n: 3}\n");
  EXPECT_EQ(error(load_model(path)), "base.yaml:7:23: out: '8 / n' is not a whole number (8 / 3)");
}

TEST_F(ModelFiles, BlocksThatMultiplyAreCounted) {
  std::string text = "kind: model\ninput: {features: 8}\nblocks:\n  b0: {layers: [relu, relu, relu, relu]}\n";
  for (int i = 1; i < 9; ++i)
    text += "  b" + std::to_string(i) + ": {layers: [b" + std::to_string(i - 1) + ", b" +
            std::to_string(i - 1) + ", b" + std::to_string(i - 1) + ", b" + std::to_string(i - 1) + "]}\n";
  const std::string path = write("m.yaml", text + "layers: [b8, loss]\n");
  EXPECT_THAT(error(load_model(path)), HasSubstr("the model has more than 10000 layers"));
}

}  // namespace
}  // namespace infold::config
