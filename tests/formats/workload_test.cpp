// Workload files: there and back, errors with their places, and there and back through Chakra.
#include "formats/workload/workload_file.h"

#include <rapidcheck/gtest.h>

#include "formats/trace/chakra_own.h"
#include "trace_help.h"
#include "work/check.h"

namespace infold::formats {
namespace {

using namespace sim::literals;
using ::testing::HasSubstr;

/// A workload with some of everything that files can hold, by chance.
study::Workload random_workload() {
  using work::Stream;
  const auto pick = [](int least, int most) { return *rc::gen::inRange(least, most + 1); };
  study::Workload w{.name = "random", .type = *rc::gen::element(sim::DataType::kFp32, sim::DataType::kBf16)};
  work::Graph& g = w.graph;
  const int ranks = 2 * pick(1, 3);
  const int scripts = pick(1, 2);
  for (int r = 0; r < ranks; ++r) g.script_of.push_back(r < scripts ? r : pick(0, scripts - 1));
  work::Communicator world{.name = "world", .groups = {{}}, .priority = pick(0, 1)};
  work::Communicator pairs{.name = "pairs", .groups = {}};
  for (int r = 0; r < ranks; ++r) world.groups[0].push_back(r);
  for (int r = 0; r < ranks; r += 2) pairs.groups.push_back({r, r + 1});
  g.communicators = {world, pairs};
  const int rounds = pick(1, 4);
  // What all ranks say to each other is the same, whatever they do besides.
  std::vector<work::Collective> said;
  std::vector<work::Transfer> sent;
  for (int i = 0; i < rounds; ++i) {
    said.push_back({.communicator = 0,
                    .what = *rc::gen::element(coll::Collective::kAllReduce, coll::Collective::kAllGather,
                                              coll::Collective::kReduceScatter, coll::Collective::kBroadcast,
                                              coll::Collective::kAllToAll),
                    .buffer = g.add(work::Buffer{sim::Bytes{4096 * ranks * pick(1, 4)}})});
    sent.push_back({.communicator = 1,
                    .buffer = g.add(work::Buffer{sim::Bytes{4096 * pick(1, 4)}}),
                    .from = pick(0, 1)});
  }
  for (int s = 0; s < scripts; ++s) {
    work::Script script{
        .streams = {{.name = "compute", .kind = Stream::Kind::kCompute},
                    {.name = "world", .kind = Stream::Kind::kCommunication, .communicator = 0},
                    {.name = "pairs", .kind = Stream::Kind::kCommunication, .communicator = 1},
                    {.name = "host", .kind = Stream::Kind::kHost}}};
    std::vector<work::OpId> before;
    const auto put = [&](std::size_t stream, work::Operation op) {
      if (!before.empty() && pick(0, 1) == 1)
        op.after = {before[static_cast<std::size_t>(pick(0, static_cast<int>(before.size()) - 1))]};
      if (pick(0, 2) == 0) op.name = fmt::format("op \"{}\" of \\ é", before.size());
      before.push_back(g.add(script.streams[stream], std::move(op)));
    };
    for (int i = 0; i < rounds; ++i) {
      for (int k = pick(0, 2); k > 0; --k) {
        put(0, {.what = work::Timed{.time = sim::Time::ps(pick(1'000'000, 9'999'999)),
                                    .sms = pick(0, 8),
                                    .workgroups = pick(0, 200),
                                    .bytes = sim::Bytes{pick(0, 100'000)}}});
      }
      const int m = 64 * pick(1, 3);
      work::MatMul product{
          .left = g.add(work::TensorSpec{.rows = m, .cols = 64}),
          .right = g.add(work::TensorSpec{.role = work::TensorSpec::Role::kWeight, .rows = 64, .cols = 128}),
          .right_by_k = true};
      product.out = g.add(work::TensorSpec{.rows = m, .cols = 128});
      put(0, {.what = work::Kernel{.what = product, .batch = pick(1, 3)}, .weights = {pick(0, 3)}});
      work::Streaming streaming;
      streaming.passes.push_back(
          {.reads = {product.out}, .writes = {product.left}, .ops_per_element = 0.1 * pick(1, 30)});
      put(0, {.what = work::Kernel{.what = streaming}, .gradients = {1, 2}});
      if (pick(0, 1) == 1) put(3, {.what = work::Delay{sim::Time::ps(pick(1, 5'000'000))}});
      if (pick(0, 1) == 1) put(0, {.what = work::Marker{}});
      put(1, {.what = said[static_cast<std::size_t>(i)]});
      put(2, {.what = sent[static_cast<std::size_t>(i)]});
    }
    g.scripts.push_back(std::move(script));
  }
  return w;
}

RC_GTEST_PROP(WorkloadFile, IsReadAsItWasWritten, ()) {
  const study::Workload w = random_workload();
  const std::string text = workload_text(w);
  const auto read = read_workload(text, "w.json");
  RC_ASSERT(read.has_value());
  RC_ASSERT(workload_text(*read) == text);
}

RC_GTEST_PROP(WorkloadFile, ComesBackFromChakraAsItWas, ()) {
  const study::Workload w = random_workload();
  RC_PRE(work::check(w.graph).has_value());
  const auto chakra = ChakraExport::make(w);
  RC_ASSERT(chakra.has_value());
  ChakraOwnReader reader;
  for (int r = w.graph.ranks(); r-- > 0;) {  // the order of files does not matter
    const std::string bytes = chakra->file_of(r);
    const auto stream = stream_of(bytes);
    const auto head = [&](const ChakraMetadata& m) {
      return reader.begin(fmt::format("t.{}.et", r), std::get<std::string>(m.attributes.at(1).value));
    };
    const auto each = [&](ChakraNode& n) { return reader.take(n); };
    const auto read = read_chakra_file(*stream, head, each);
    RC_ASSERT(read.has_value());
  }
  const auto back = reader.finish();
  RC_ASSERT(back.has_value());
  RC_ASSERT(workload_text(*back) == workload_text(w));
}

std::string refusal(const std::string& text) {
  const auto read = read_workload(text, "w.json");
  return read ? "" : to_string(read.error());
}
std::string with_operations(const std::string& operations, const std::string& streams) {
  return "{\"kind\": \"workload\",\n\"communicators\": [{\"name\": \"c\", \"groups\": [[0, "
         "1]]}],\n\"buffers\": [{\"bytes\": "
         "4096}],\n\"operations\": [\n" +
         operations + "],\n\"scripts\": [{\"streams\": [" + streams + "]}],\n\"script_of\": [0, 0]}\n";
}
constexpr const char* kCompute = "{\"name\": \"compute\", \"kind\": \"compute\", \"ops\": [0]}";

TEST(WorkloadFile, MayBeWrittenByHandAsYaml) {
  const auto read = read_workload(
      "kind: workload\n"
      "operations:\n"
      "  - {do: measured, ps: 5000000, name: a}\n"
      "  - {do: delay, ps: 1000, after: [0]}\n"
      "scripts:\n"
      "  - streams:\n"
      "      - {name: compute, ops: [0]}\n"
      "      - {name: host, kind: host, ops: [1]}\n"
      "script_of: [0]\n",
      "w.yaml");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(std::get<work::Timed>(read->graph[0].what).time, 5_us);
}

TEST(WorkloadFile, AnUnknownKindOfOperationHasItsPlaceAndASuggestion) {
  EXPECT_EQ(
      refusal(with_operations("{\"do\": \"mesured\", \"ps\": 1}", kCompute)),
      "w.json:5:1: do: 'mesured' is not one of product, convolution, attention, streaming, copy, collective, "
      "transfer, delay, marker, measured, gather (did you mean 'measured'?)");
}

TEST(WorkloadFile, AnUnknownKeyHasItsPlace) {
  EXPECT_THAT(refusal(with_operations("{\"do\": \"measured\", \"ps\": 1, \"sm\": 4}", kCompute)),
              HasSubstr("w.json:5:29: unknown key 'sm' (did you mean 'sms'?)"));
}

TEST(WorkloadFile, ANumberOutOfRangeHasItsPlace) {
  EXPECT_THAT(refusal(with_operations("{\"do\": \"measured\", \"ps\": -4}", kCompute)),
              HasSubstr("w.json:5:26: ps: -4 is not between 0 and"));
}

TEST(WorkloadFile, ACollectiveOfARankThatThereIsNotIsRefused) {
  std::string text = with_operations("{\"do\": \"marker\"}", kCompute);
  text.replace(text.find("[[0, 1]]"), 8, "[[0, 9]]");
  EXPECT_THAT(refusal(text), HasSubstr("communicator c: there is no rank 9"));
}

TEST(WorkloadFile, AProductWhoseOperandsDoNotFitIsRefused) {
  std::string text = with_operations(
      "{\"do\": \"product\", \"left\": 0, \"right\": 1, \"out\": 0, \"name\": \"p\"}", kCompute);
  text.replace(text.find("\"buffers\""), 0,
               "\"tensors\": [{\"rows\": 4, \"cols\": 8}, {\"rows\": 4, \"cols\": 7}],\n");
  EXPECT_THAT(refusal(text), HasSubstr("w.json:6:1: p: its operands have different k: 8 and 7"));
}

TEST(WorkloadFile, ACircleIsRefusedWithItsOperations) {
  const auto read =
      read_workload(with_operations("{\"do\": \"marker\", \"name\": \"a\", \"after\": [1]}, {\"do\": "
                                    "\"marker\", \"name\": \"b\", \"after\": [0]}",
                                    "{\"name\": \"x\", \"ops\": [0]}, {\"name\": \"y\", \"ops\": [1]}"),
                    "w.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()),
              HasSubstr("w.json: operations wait for each other, so that none can begin: rank 0 x: a "
                        "waits for b; rank 0 y: b waits for a"));
}

TEST(WorkloadFile, ChakraHasNoNodeForWhatIsDecidedWhileTheStepRuns) {
  study::Workload w;
  w.graph.operations = {{.what = work::Gather{}, .name = "gradients"}};
  w.graph.scripts = {{}};
  w.graph.script_of = {0};
  const auto chakra = ChakraExport::make(w);
  ASSERT_FALSE(chakra);
  EXPECT_THAT(chakra.error().message, HasSubstr("gradients: what is decided while the step runs"));
}

}  // namespace
}  // namespace infold::formats
