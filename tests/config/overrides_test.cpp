// --set path=value.
#include "config/yaml/overrides.h"

#include <fmt/format.h>

#include "support/results.h"

namespace infold::config {
namespace {

using namespace sim::literals;

std::string override_error(std::string_view assignment) {
  study::SystemSpec spec;
  return why(apply_override(spec, assignment));
}

TEST(Overrides, SetAnyParameter) {
  study::SystemSpec s;
  const std::vector<std::string> all = {"gpu.hbm.bandwidth=3TB/s",   "fabric.link.rate = 50GB/s",
                                        "coll.channels=16",          "fabric.topology=torus",
                                        "fabric.dims=[4, 2]",        "gpus=4",
                                        "fabric.switch.latency=1us", "gpu.clock=1.41 GHz"};
  ASSERT_EQ(why(apply_overrides(s, all)), "");
  EXPECT_EQ(s.machine.gpu.hbm.bandwidth, 3000_GBps);
  EXPECT_EQ(s.machine.fabric.link.rate, 50_GBps);
  EXPECT_EQ(s.coll.channels, 16);
  EXPECT_EQ(s.machine.fabric.topology, net::Topology::kTorus);
  EXPECT_EQ(s.machine.fabric.dims, (std::vector<int>{4, 2}));
  EXPECT_EQ(s.machine.gpus, 4);
  EXPECT_EQ(s.machine.fabric.switch_chip.latency, 1_us);
}

TEST(Overrides, ListsNeedNoBrackets) {
  study::SystemSpec s;
  ASSERT_EQ(why(apply_override(s, "fabric.links_per_plane=5,4,4,5")), "");
  EXPECT_EQ(s.machine.fabric.links_per_plane, (std::vector<int>{5, 4, 4, 5}));
  ASSERT_EQ(why(apply_override(s, "fabric.links_per_plane=3")), "");
  EXPECT_EQ(s.machine.fabric.links_per_plane, std::vector<int>{3});
  ASSERT_EQ(why(apply_override(s, "fabric.dims=[]")), "");
  EXPECT_TRUE(s.machine.fabric.dims.empty());
}

TEST(Overrides, APercentageIsOneOfWhatThereWas) {
  study::SystemSpec s;
  s.machine.gpu.hbm.bandwidth = 1000_GBps;
  s.machine.fabric.link.latency = 150_ns;
  s.coll.channels = 24;
  const std::vector<std::string> all = {"gpu.hbm.bandwidth=90%", "fabric.link.latency=110 %",
                                        "coll.channels=110%"};
  ASSERT_EQ(why(apply_overrides(s, all)), "");
  EXPECT_EQ(s.machine.gpu.hbm.bandwidth, 900_GBps);
  EXPECT_EQ(s.machine.fabric.link.latency, 165_ns);
  EXPECT_EQ(s.coll.channels, 26) << "to the nearest whole number";
  for (const char* bad : {"0%", "-5%", "%", "x%", "nan%", "inf%", "1e99%"})
    EXPECT_NE(override_error(fmt::format("gpu.hbm.bandwidth={}", bad)), "") << bad;
  EXPECT_THAT(override_error("coll.channels=100000%"), testing::HasSubstr("must be between"));
  EXPECT_NE(override_error("fabric.links_per_plane=110%"), "") << "a list has no one value";
}

TEST(Overrides, BytesNeedNoUnit) {
  study::SystemSpec s;
  ASSERT_EQ(why(apply_override(s, "fabric.packet.payload=256")), "");
  EXPECT_EQ(s.machine.fabric.packet.payload, 256_B);
  ASSERT_EQ(why(apply_override(s, "coll.buffer=8M")), "");
  EXPECT_EQ(s.coll.buffer, 8_MiB);
}

TEST(Overrides, SayWhatIsWrong) {
  EXPECT_EQ(override_error("gpu.hbm.bandwith=3TB/s"),
            "--set: unknown parameter 'gpu.hbm.bandwith' (did you mean 'gpu.hbm.bandwidth'?)");
  EXPECT_EQ(override_error("hbm.bandwidth=3TB/s"),
            "--set: unknown parameter 'hbm.bandwidth' (did you mean 'gpu.hbm.bandwidth'?)");
  EXPECT_EQ(override_error("zzz=1"),
            "--set: unknown parameter 'zzz' ('infold describe system dgx-a100' lists them)");
  EXPECT_EQ(override_error("gpu.copy=1"),
            "--set: 'gpu.copy' is a group of parameters (gpu.copy.engines, gpu.copy.payload, "
            "gpu.copy.in_flight, gpu.copy.rate, gpu.copy.command, gpu.copy.signal)");
  EXPECT_EQ(override_error("gpus"), "--set: 'gpus' is not of the form path=value");
  EXPECT_EQ(override_error("=3"), "--set: '=3' is not of the form path=value");
  EXPECT_EQ(override_error("gpus="), "--set: gpus: no value after '='");
  EXPECT_EQ(override_error("gpus=1000000000"), "--set: gpus must be between 1 and 100000, not 1000000000");
  EXPECT_EQ(override_error("gpu.hbm.bandwidth=25"),
            "--set: gpu.hbm.bandwidth: '25' has no unit (write for example '25 GB/s')");
  EXPECT_EQ(override_error("fabric.topology=ringg"),
            "--set: fabric.topology: unknown value 'ringg' (did you mean 'ring'?)");
  EXPECT_EQ(override_error("fabric.links_per_plane=5,,4"),
            "--set: fabric.links_per_plane: expected a whole number, not ''");
  EXPECT_EQ(override_error("fabric.links_per_plane=5,"),
            "--set: fabric.links_per_plane: expected a whole number, not ''");
  std::string list = "fabric.dims=2";
  for (int i = 0; i < 1024; ++i) list += ",2";
  EXPECT_EQ(override_error(list), "--set: fabric.dims: a list of 1025 numbers; the longest allowed has 1024");
}

TEST(Overrides, AWrongOneChangesNothing) {
  study::SystemSpec s;
  EXPECT_FALSE(apply_override(s, "gpus=0"));
  EXPECT_FALSE(apply_override(s, "fabric.links_per_plane=3,99"));
  EXPECT_EQ(s.machine.gpus, 8);
  EXPECT_EQ(s.machine.fabric.links_per_plane, std::vector<int>{1});
}

/// A machine of switch planes that says how many it has.
study::SystemSpec planes() {
  study::SystemSpec s;
  s.machine.fabric.planes = 6;
  s.machine.fabric.links_per_plane = {2};
  return s;
}

std::string error_of_all(study::SystemSpec spec, const std::vector<std::string>& all) {
  return why(apply_overrides(spec, all));
}

TEST(Overrides, WhatTheTopologyHasNoUseForIsRefused) {
  EXPECT_EQ(error_of_all(planes(), {"fabric.dims=4,2"}),
            "--set: fabric.dims: the topology switch-planes has no use for it; it shapes torus");
  EXPECT_EQ(error_of_all(planes(), {"fabric.links_per_neighbour=2", "fabric.topology=ring"}), "")
      << "the topology as it is in the end counts";
}

TEST(Overrides, AnotherTopologyNeedsAShapeOfItsOwn) {
  EXPECT_EQ(error_of_all(planes(), {"fabric.topology=full-mesh"}),
            "--set: fabric.topology: full-mesh has no use for what the system says of switch-planes "
            "(fabric.planes, fabric.links_per_plane); set its own shape too: fabric.links_per_neighbour");
  EXPECT_EQ(error_of_all(planes(), {"fabric.topology=cube-mesh"}), "") << "it has but one shape";
  EXPECT_EQ(error_of_all({}, {"fabric.topology=full-mesh"}), "") << "nothing was said of the planes";
}

TEST(Overrides, AMissingUnitIsOneThatTheParameterCanHave) {
  EXPECT_EQ(override_error("fabric.link.latency=150"),
            "--set: fabric.link.latency: '150' has no unit (write for example '150 ns')");
  EXPECT_EQ(override_error("gpu.hbm.bandwidth=3"),
            "--set: gpu.hbm.bandwidth: '3' has no unit (write for example '3 GB/s')");
  EXPECT_EQ(override_error("gpu.clock=1410"),
            "--set: gpu.clock: '1410' has no unit (write for example '1410 MHz')");
  EXPECT_EQ(override_error("gpu.clock=-5"), "--set: gpu.clock: '-5' is negative");
}

}  // namespace
}  // namespace infold::config
