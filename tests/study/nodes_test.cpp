// Collectives over nodes: values, bytes over NICs, bounds, what the proxy and the flush cost, refusals.
#include <algorithm>
#include <array>

#include "gpu/machine.h"
#include "job_help.h"

namespace infold::study {
namespace {

/// Small nodes under one switch, on rails.
SystemSpec nodes_of(int nodes, int gpus) {
  SystemSpec s = small_system(gpus, 1);
  s.machine.nodes = nodes;
  s.machine.scale_out.nodes_per_leaf = 2;
  s.machine.scale_out.spines = 2;
  s.machine.scale_out.uplinks = 1;
  return s;
}

CollectiveJob over(const SystemSpec& system, Collective collective, sim::Bytes bytes, const char* algorithm) {
  CollectiveJob job = job_on(system, collective, bytes);
  job.gpus = system.machine.all_gpus();
  job.algorithm = coll::find_algorithm(algorithm);
  return job;
}

struct NodesCase {
  const char* algorithm;
  int nodes;
  int gpus;
};
void PrintTo(const NodesCase& c, std::ostream* out) {
  *out << c.algorithm << " on " << c.nodes << " x " << c.gpus;
}
std::vector<NodesCase> nodes_cases() {
  std::vector<NodesCase> all;
  for (const coll::Algorithm& a : coll::algorithms()) {
    for (const int nodes : {2, 3, 4}) {
      for (const int gpus : {1, 2, 4, 8}) {
        if (!a.in_network) all.push_back({a.name.data(), nodes, gpus});
      }
    }
  }
  return all;
}

class OverNodes : public testing::TestWithParam<NodesCase> {};
INSTANTIATE_TEST_SUITE_P(All, OverNodes, testing::ValuesIn(nodes_cases()), [](const auto& tested) {
  std::string name = fmt::format("{}_{}x{}", tested.param.algorithm, tested.param.nodes, tested.param.gpus);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(OverNodes, ValuesAreRightWithEveryProtocol) {
  const SystemSpec system = nodes_of(GetParam().nodes, GetParam().gpus);
  const int ranks = system.machine.all_gpus();
  const coll::Algorithm& algorithm = *coll::find_algorithm(GetParam().algorithm);
  for (const Collective c : algorithm.collectives) {
    for (const auto& protocol : coll::kProtocolNames) {
      if (protocol.value != coll::Protocol::kSimple && algorithm.needs_simple(c)) continue;
      for (const std::int64_t elements : {1, 20'011}) {
        const std::int64_t whole = coll::has_shares(c) ? (elements + ranks - 1) / ranks * ranks : elements;
        CollectiveJob job =
            over(system, c, sim::Bytes{c == Collective::kBarrier ? 0 : whole * 4}, algorithm.name.data());
        job.protocol = protocol.value;
        job.check = true;
        job.burst.bytes = elements == 1 ? 0_B : 4_KiB;
        EXPECT_EQ(result_of(job).wrong, 0u) << sim::name_of(c) << " " << protocol.name << " " << elements;
      }
    }
  }
}

TEST(Nodes, RootsMayBeInAnyNode) {
  const SystemSpec system = nodes_of(3, 2);
  for (const char* algorithm : {"ring", "tree", "direct"}) {
    for (const Collective c : {Collective::kBroadcast, Collective::kReduce}) {
      for (int root = 0; root < 6; ++root) {
        CollectiveJob job = over(system, c, 100'000_B, algorithm);
        job.root = root;
        job.check = true;
        EXPECT_EQ(result_of(job).wrong, 0u) << algorithm << " " << sim::name_of(c) << " " << root;
      }
    }
  }
}

TEST(Nodes, SeveralIterationsCommunicatorsAndCollectivesAtOnceKeepTheirValues) {
  CollectiveJob job = over(nodes_of(2, 4), Collective::kAllReduce, 200'000_B, "ring");
  job.check = true;
  job.iterations = 3;
  job.concurrent = 2;
  EXPECT_EQ(result_of(job).wrong, 0u);
  job.groups = 2;
  EXPECT_EQ(result_of(job).wrong, 0u) << "each within a node";
  job.groups = 1;
  job.gpus = 6;
  EXPECT_EQ(result_of(job).wrong, 0u) << "nodes with different numbers of ranks";
}

TEST(Nodes, ARingSendsItsShareOverEveryNic) {
  SystemSpec system = nodes_of(4, 2);
  system.coll.channels = 2;
  const CollectiveJob job = over(system, Collective::kAllReduce, 1_MiB, "ring");
  const auto prepared = prepare(job).value();
  const CollectiveResult r = run_undisturbed(prepared, {}).value();
  // Every rank sends twice 7/8 of the vector. Of each ring, which has half of it, a node's last rank sends to
  // the next node, and over the two rings each NIC once.
  std::uint64_t into_nics = 0;
  for (const LinkUse& use : r.links.links) {
    const net::Blueprint& machine = job.system->plan().blueprint();
    if (!machine.is_gpu(use.from) || machine.role(use.to) != net::NodeRole::kNic) continue;
    ++into_nics;
    const double bytes = use.mean * system.machine.nic.pcie_rate.in_gbps() * 1e9 * r.time.in_s();
    EXPECT_NEAR(bytes, 2.0 * 7 / 8 * (1 << 19), 1.0);
  }
  EXPECT_EQ(into_nics, 8u);
}

TEST(Nodes, NoneIsFasterThanItsNics) {
  SystemSpec system = nodes_of(2, 2);
  system.machine.nic.rate = 2_GBps;
  for (const Collective c : {Collective::kAllReduce, Collective::kAllGather, Collective::kReduceScatter}) {
    const CollectiveResult r = result_of(over(system, c, 8_MiB, "ring"));
    EXPECT_LT(r.busbw_gbps, r.bound_gbps);
    // A ring passes from node to node what it passes from rank to rank, so each of its NICs carries the same.
    EXPECT_NEAR(r.busbw_gbps, 2 * 2 * 4096.0 / 4122, 0.08);
    EXPECT_NEAR(r.bound_gbps, 2 * 2 * 4096.0 / 4122 * (3.0 / 4) / (1.0 / 2), 1e-9);
  }
  const CollectiveResult r = result_of(over(system, Collective::kAllToAll, 8_MiB, "direct"));
  EXPECT_LT(r.busbw_gbps, r.bound_gbps);
  EXPECT_GT(r.busbw_gbps, 0.8 * r.bound_gbps);
}

TEST(Nodes, EveryTimeOfTheHostDelaysASmallMessage) {
  const auto time_with = [](auto change) {
    SystemSpec system = nodes_of(2, 1);
    change(system.machine);
    return result_of(over(system, Collective::kAllReduce, 1_KiB, "ring")).time;
  };
  const sim::Time before = time_with([](gpu::MachineSpec&) {});
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.host.notify += 1_us; }), before);
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.host.post += 1_us; }), before);
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.host.completion += 1_us; }), before);
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.host.wake += 1_us; }), before);
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.nic.latency += 1_us; }), before);
  EXPECT_GT(time_with([](gpu::MachineSpec& m) { m.scale_out.link.latency += 1_us; }), before);
  EXPECT_EQ(time_with([](gpu::MachineSpec& m) { m.host.flush += 1_us; }), before + 2_us) << "one per hop";
  EXPECT_GE(time_with([](gpu::MachineSpec& m) { m.nic.pcie_latency += 1_us; }), before + 5_us)
      << "per hop a read, there and back, and a write; the proxy, which first had to take up what it had "
         "sent, "
         "waits less";
}

TEST(Nodes, OversubscribedLeavesTakeLonger) {
  const auto time_with = [](int uplinks) {
    SystemSpec system = nodes_of(4, 2);
    system.machine.scale_out.shape = net::ScaleOutShape::kLeafSpine;
    system.machine.scale_out.uplinks = uplinks;
    system.machine.scale_out.spines = 1;
    return result_of(over(system, Collective::kAllToAll, 8_MiB, "direct")).time;
  };
  EXPECT_GT(time_with(1).in_us(), 1.5 * time_with(8).in_us());
}

TEST(Nodes, SwitchesThatReduceAndOtherEnginesAreRefusedByName) {
  SystemSpec system = nodes_of(2, 4);
  system.machine.inc.unit = inc::Unit::kProposed;
  const auto message = [](const CollectiveJob& job) { return run(job, {}).error().message; };
  for (const char* algorithm : {"nvls", "inc-push", "inc-pull"}) {
    const CollectiveJob job = over(system, Collective::kAllReduce, 1_MiB, algorithm);
    EXPECT_EQ(message(job).find(fmt::format("{} does not go over nodes yet", algorithm)), 0u) << message(job);
  }
  CollectiveJob job = over(system, Collective::kAllReduce, 1_MiB, "ring");
  job.engine = coll::Engine::kDma;
  EXPECT_EQ(message(job).find("engine dma does not go over nodes yet"), 0u) << message(job);
}

TEST(Nodes, OneNodeIsWhatItWas) {
  SystemSpec one = small_system();
  one.machine.nic.rate = 1_GBps;  // of no account
  EXPECT_EQ(prepared(one)->plan().scale_out(), nullptr);
  EXPECT_EQ(result_of(job_on(one, Collective::kAllReduce, 1_MiB)).time,
            result_of(job_on(small_system(), Collective::kAllReduce, 1_MiB)).time);
}

}  // namespace
}  // namespace infold::study
