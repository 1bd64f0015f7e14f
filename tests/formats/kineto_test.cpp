// Profiles of PyTorch: kernels, waits between streams, collectives by their arguments, the host between
// launches.
#include "trace_help.h"

namespace infold::formats {
namespace {

using namespace help;
using namespace sim::literals;
using ::testing::Contains;
using ::testing::HasSubstr;

sim::Result<TracedWorkload> read(const std::string& text, TraceOptions options = {}) {
  return workload_from(text, "rank0.json", options);
}
const work::Graph& graph_of(const sim::Result<TracedWorkload>& loaded) {
  EXPECT_TRUE(loaded) << (loaded ? "" : to_string(loaded.error()));
  return loaded->workload.graph;
}
work::OpId named(const work::Graph& g, std::string_view name) {
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    if (g[op].name == name) return op;
  }
  ADD_FAILURE() << "no operation " << name;
  return 0;
}
/// Whether an operation waits for another, by name or on the way.
bool waits_for(const work::Graph& g, work::OpId op, work::OpId before) {
  const auto& after = g[op].after;
  return std::find(after.begin(), after.end(), before) != after.end();
}

TEST(Kineto, AKernelHasItsDurationAndItsGridInWaves) {
  const auto loaded = read(kineto(launched(1, 100, 20, 7), 0, 1));
  const auto kernels = all_of<work::Timed>(graph_of(loaded));
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].time, 20_us);
  EXPECT_EQ(kernels[0].workgroups, 512);
  EXPECT_EQ(kernels[0].sms, 0);
}

TEST(Kineto, AGridOfFewBlocksHoldsAsManySms) {
  std::string text = kineto(launched(1, 100, 20, 7), 0, 1);
  text.replace(text.find("[512,1,1]"), 9, "[4,2,1]");
  const auto kernels = all_of<work::Timed>(graph_of(read(text)));
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].sms, 8);
}

TEST(Kineto, TheHostIsBusyBetweenLaunches) {
  const auto loaded = read(kineto(launched(1, 100, 20, 7) + launched(2, 400, 20, 7), 0, 1));
  const auto delays = all_of<work::Delay>(graph_of(loaded));
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_EQ(delays[1].time, 300_us);
}

TEST(Kineto, AHostThatSynchronizesGoesOnWhenItsKernelHasEnded) {
  const std::string sync =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","tid":1,"ts":100,"dur":52,"args":{"correlation":9}},
)";
  const auto loaded = read(kineto(launched(1, 100, 50, 7) + sync + launched(2, 205, 20, 7), 0, 1));
  const work::Graph& g = graph_of(loaded);
  const auto delays = all_of<work::Delay>(g);
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_EQ(delays[1].time, 50_us);  // from the end of the kernel to the next launch
  bool waits = false;
  for (const work::Operation& op : g.operations)
    waits = waits || (std::holds_alternative<work::Delay>(op.what) && !op.after.empty());
  EXPECT_TRUE(waits);
}

TEST(Kineto, CollectivesComeFromTheirArguments) {
  struct Case {
    const char* name;
    std::int64_t in, out;
    coll::Collective what;
    std::int64_t bytes;
  };
  for (const Case& c :
       {Case{"allreduce", 1024, 1024, coll::Collective::kAllReduce, 4096},
        Case{"_allgather_base", 1024, 2048, coll::Collective::kAllGather, 8192},
        Case{"allgather_into_tensor_coalesced", 1024, 2048, coll::Collective::kAllGather, 8192},
        Case{"_reduce_scatter_base", 2048, 1024, coll::Collective::kReduceScatter, 8192},
        Case{"reduce_scatter_tensor_coalesced", 2048, 1024, coll::Collective::kReduceScatter, 8192},
        Case{"all_to_all", 2048, 2048, coll::Collective::kAllToAll, 8192},
        Case{"broadcast", 1024, 1024, coll::Collective::kBroadcast, 4096},
        Case{"_broadcast_oop", 1024, 1024, coll::Collective::kBroadcast, 4096},
        Case{"reduce", 1024, 1024, coll::Collective::kReduce, 4096},
        Case{"allreduce_coalesced", 1024, 1024, coll::Collective::kAllReduce, 4096}}) {
    const auto loaded = read(kineto(launched(1, 100, 20, 20, nccl(c.name, c.in, c.out), "ncclDevKernel_X")));
    const auto all = all_of<work::Collective>(graph_of(loaded));
    ASSERT_EQ(all.size(), 1U) << c.name;
    EXPECT_EQ(all[0].what, c.what) << c.name;
    EXPECT_EQ(loaded->workload.graph.buffers[static_cast<std::size_t>(all[0].buffer)].bytes,
              sim::Bytes{c.bytes})
        << c.name;
  }
}

TEST(Kineto, AllToAllWithUnevenSharesTakesTheirSum) {
  const auto loaded = read(kineto(
      launched(1, 100, 20, 20,
               nccl("all_to_allv", 0, 0, R"(,"In split size":"[1000, 24]","Out split size":"[24, 24]")"),
               "ncclDevKernel_SendRecv")));
  const auto all = all_of<work::Collective>(graph_of(loaded));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(loaded->workload.graph.buffers[static_cast<std::size_t>(all[0].buffer)].bytes, 4096_B);
}

TEST(Kineto, AMessageOfOneRankNeedsTheTraceOfTheOther) {
  const auto rank = [](int r) {
    return kineto(
        launched(1, 100, 20, 20, nccl(r == 0 ? "send" : "recv", 1024, 1024), "ncclDevKernel_SendRecv"), r);
  };
  const auto loaded = read(rank(0));
  ASSERT_FALSE(loaded);  // what the other does is not known
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("give the traces of all 2 ranks"));
}

TEST(Kineto, ACollectiveWaitsForTheKernelBeforeItsLaunchAndWhoWaitsForIt) {
  const std::string wait =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","tid":1,"ts":152,"dur":1,"args":{"correlation":8}},
)";
  const auto loaded =
      read(kineto(launched(1, 100, 20, 7, "", "first") +
                  launched(2, 125, 40, 20, nccl("allreduce", 64, 64), "ncclDevKernel_AllReduce") + wait +
                  launched(3, 170, 10, 7, "", "second")));
  const work::Graph& g = graph_of(loaded);
  EXPECT_TRUE(waits_for(g, named(g, "ncclDevKernel_AllReduce"), named(g, "first")));
  EXPECT_TRUE(waits_for(g, named(g, "second"), named(g, "ncclDevKernel_AllReduce")));
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("told from calls and times")));
}

TEST(Kineto, WaitsThatAreRecordedAreTaken) {
  const std::string events =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","tid":1,"ts":101,"dur":1,"args":{"correlation":5}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","tid":1,"ts":103,"dur":1,"args":{"correlation":6}},
{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":9,"ts":103,"dur":0,"args":{"cuda_sync_kind":"Stream Wait Event","stream":9,"correlation":6,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":5}},
)";
  const auto loaded = read(
      kineto(launched(1, 100, 20, 7, "", "first") + events + launched(2, 121, 10, 9, "", "second"), 0, 1));
  const work::Graph& g = graph_of(loaded);
  EXPECT_TRUE(waits_for(g, named(g, "second"), named(g, "first")));
}

TEST(Kineto, AProductOfKnownShapeIsThatProduct) {
  const std::string op =
      R"({"ph":"X","cat":"cpu_op","name":"aten::addmm","tid":1,"ts":90,"dur":9,"args":{"External id":4,"Input Dims":[[256],[128,512],[512,256],[],[]],"Input type":["c10::Half","c10::Half","c10::Half","Scalar","Scalar"]}},
)";
  const auto loaded = read(kineto(
      op + launched(1, 100, 20, 7, R"(,"External id":4)", "ampere_fp16_s16816gemm_fp16_128x64"), 0, 1));
  const auto kernels = all_of<work::Kernel>(graph_of(loaded));
  ASSERT_EQ(kernels.size(), 1U);
  const auto size = work::size_of(loaded->workload.graph.tensors, std::get<work::MatMul>(kernels[0].what));
  EXPECT_EQ(size.m, 128);
  EXPECT_EQ(size.n, 256);
  EXPECT_EQ(size.k, 512);
}

TEST(Kineto, CopiesToTheHostTakeNoSms) {
  const std::string copy =
      R"#({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":7,"ts":130,"dur":8,"args":{"stream":7,"device":0,"correlation":3,"bytes":4096}},
)#";
  const auto loaded = read(kineto(launched(1, 100, 20, 7) + copy, 0, 1));
  EXPECT_EQ(all_of<work::Timed>(graph_of(loaded)).size(), 1U);
}

TEST(Kineto, TheStepInTheMiddleIsTakenOrTheOneAskedFor) {
  std::string events;
  for (int s = 0; s < 3; ++s) {
    events += fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","tid":1,"ts":{},"dur":1000,"args":{{}}}},
)",
        s, s * 1000);
    for (int k = 0; k <= s; ++k) events += launched(s * 10 + k, s * 1000 + 100 + k * 50, 20, 7);
  }
  EXPECT_EQ(all_of<work::Timed>(graph_of(read(kineto(events, 0, 1)))).size(), 2U);
  EXPECT_EQ(all_of<work::Timed>(graph_of(read(kineto(events, 0, 1), {.step = 2}))).size(), 3U);
  const auto none = read(kineto(events, 0, 1), {.step = 7});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("the trace has 'ProfilerStep#0'"));
}

TEST(Kineto, GroupsOfRanksWithoutATraceAreRepeated) {
  std::string args = nccl("allreduce", 64, 64);
  args += R"(,"Process Group Description":"tp")";
  const auto loaded = read(kineto(launched(1, 100, 20, 20, args, "ncclDevKernel_AllReduce"), 0, 4));
  ASSERT_EQ(graph_of(loaded).communicators.size(), 1U);
  EXPECT_EQ(loaded->workload.graph.communicators[0].name, "tp");
  EXPECT_EQ(loaded->workload.graph.communicators[0].groups, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
}

TEST(Kineto, CommunicationThatSaysNothingOfItsSizeKeepsItsDuration) {
  const auto loaded = read(kineto(launched(1, 100, 20, 20, "", "ncclKernel_AllReduce_RING_LL_Sum_float")));
  EXPECT_EQ(all_of<work::Timed>(graph_of(loaded)).size(), 1U);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("do not say what they send")));
}

TEST(Kineto, ATraceWithoutKernelsIsRefused) {
  const auto loaded = read(kineto("", 0, 1));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("no kernels of a GPU"));
}

TEST(Kineto, WhatIsNoJsonIsRefusedWithItsPlace) {
  std::string text = kineto(launched(1, 100, 20, 7), 0, 1);
  text.replace(text.find("\"ph\":\"M\""), 4, "\"ph\"x");
  const auto loaded = read(text);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("rank0.json:6:"));
}

TEST(Kineto, AnOlderTraceIsAListWithoutCallsOrProperties) {
  const auto loaded = read(
      R"([{"ph":"X","cat":"Kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5,"args":{"stream":7,"grid":[1,1,1]}},
{"ph":"X","cat":"Kernel","name":"b","pid":0,"tid":7,"ts":40,"dur":5,"args":{"stream":"7"}}])");
  EXPECT_EQ(all_of<work::Timed>(graph_of(loaded)).size(), 2U);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("no calls of the runtime")));
}

TEST(Kineto, NumbersThatJsonDoesNotHaveAreNoReasonToRefuse) {
  const std::string args =
      R"#(,"memory bandwidth (GB/s)": inf,"a": -Infinity,"b": [NaN],"c": "\"nan inf\"")#";
  EXPECT_EQ(all_of<work::Timed>(graph_of(read(kineto(launched(1, 100, 20, 7, args), 0, 1)))).size(), 1U);
}

TEST(Kineto, ATraceMayBePackedAndLargerThanOtherFiles) {
  std::string events;
  for (int i = 0; i < 200; ++i) events += launched(i, 100 + i * 30, 20, 7);
  const auto loaded = read(packed(kineto(events, 0, 1)));
  EXPECT_EQ(all_of<work::Timed>(graph_of(loaded)).size(), 200U);
}

}  // namespace
}  // namespace infold::formats
