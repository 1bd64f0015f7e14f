// Workloads that went through Chakra are simulated as they were, to the picosecond.
#include <rapidcheck/gtest.h>

#include "coll/algo/algorithms.h"
#include "config/catalog.h"
#include "formats/trace/chakra_own.h"
#include "study/check.h"
#include "study/replay/replay_run.h"
#include "trace_help.h"

namespace infold::formats {
namespace {

/// Kernels, collectives and delays of two ranks that wait for each other by chance.
study::Workload random_step() {
  const auto pick = [](int least, int most) { return *rc::gen::inRange(least, most + 1); };
  study::Workload w{.name = "step"};
  work::Graph& g = w.graph;
  g.script_of = {0, pick(0, 1)};
  g.communicators = {{.name = "dp", .groups = {{0, 1}}}};
  const int rounds = pick(1, 3);
  const work::BufferId buffer = g.add(work::Buffer{sim::Bytes{65536 * pick(1, 4)}});
  for (int s = 0; s <= g.script_of[1]; ++s) {
    work::Script script{
        .streams = {{.name = "compute", .kind = work::Stream::Kind::kCompute},
                    {.name = "dp", .kind = work::Stream::Kind::kCommunication, .communicator = 0},
                    {.name = "host", .kind = work::Stream::Kind::kHost}}};
    std::vector<work::OpId> before;
    for (int i = 0; i < rounds; ++i) {
      const auto after = [&]() -> std::vector<work::OpId> {
        if (before.empty()) return {};
        return {before[static_cast<std::size_t>(pick(0, static_cast<int>(before.size()) - 1))]};
      };
      before.push_back(
          g.add(script.streams[0], {.what = work::Timed{.time = sim::Time::us(pick(1, 40)),
                                                        .sms = pick(0, 20),
                                                        .bytes = sim::Bytes{pick(0, 1) * 1'000'000}},
                                    .after = after()}));
      before.push_back(
          g.add(script.streams[2], {.what = work::Delay{sim::Time::us(pick(1, 9))}, .after = after()}));
      before.push_back(
          g.add(script.streams[1], {.what = work::Collective{.buffer = buffer}, .after = after()}));
    }
    g.scripts.push_back(std::move(script));
  }
  return w;
}

study::ReplayResult replayed(const study::Workload& w, const study::SystemPtr& system) {
  const study::ReplayJob job{.system = system,
                             .workload = &w,
                             .method = {.algorithm = coll::find_algorithm("ring")},
                             .protocol = coll::Protocol::kLl,
                             .burst = {}};
  auto ran = study::run(job, {});
  RC_ASSERT(ran.has_value());
  return *std::move(ran);
}

RC_GTEST_PROP(ReplayedWorkload, IsTheSameBehindChakra, ()) {
  study::PreparingCheck check([] { return true; });
  RC_ASSERT(config::load_system("dgx-a100", {}, std::ref(check)).has_value());
  const study::Workload w = random_step();
  const auto chakra = ChakraExport::make(w);
  RC_ASSERT(chakra.has_value());
  ChakraOwnReader reader;
  for (int r = 0; r < 2; ++r) {
    const std::string bytes = chakra->file_of(r);
    const auto stream = stream_of(bytes);
    const auto head = [&](const ChakraMetadata& m) {
      return reader.begin("t", std::get<std::string>(m.attributes.at(1).value));
    };
    RC_ASSERT(read_chakra_file(*stream, head, [&](ChakraNode& n) { return reader.take(n); }).has_value());
  }
  const auto back = reader.finish();
  RC_ASSERT(back.has_value());
  const study::ReplayResult before = replayed(w, check.prepared());
  const study::ReplayResult after = replayed(*back, check.prepared());
  RC_ASSERT(before.step == after.step);
  RC_ASSERT(before.alone == after.alone);
  RC_ASSERT(before.waited == after.waited);
  RC_ASSERT(before.packet_hops == after.packet_hops);
  RC_ASSERT(before.events == after.events);
}

}  // namespace
}  // namespace infold::formats
