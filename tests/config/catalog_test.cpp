// Presets and files: what loads, what a base does, and how broken references are refused.
#include "config/catalog.h"

#include <fmt/format.h>

#include "config/yaml/source.h"
#include "helpers.h"

namespace infold::config {
namespace {

using namespace sim::literals;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

study::SystemSpec system_of(std::string_view name) {
  sim::Result<study::SystemSpec> r = load_system(name, {});
  EXPECT_EQ(error_of(r), "");
  return r ? r.value() : study::SystemSpec{};
}

TEST(Presets, EverySystemLoadsAndSaysWhereItsNumbersComeFrom) {
  const auto systems = list_systems();
  EXPECT_EQ(systems.size(), preset_names(FileKind::kSystem).size());
  for (const char* name : {"r9nano-pcie-2", "r9nano-pcie-4", "dgx1-v100", "dgx2", "dgx-a100", "hgx-h100",
                           "hgx-h200", "hgx-b200", "gb200-nvl72", "mi300x-8", "klenk-16", "klenk-128",
                           "dgx-a100-superpod", "dgx-h100-superpod", "leaf-spine"}) {
    EXPECT_THAT(systems, Contains(Field(&PresetInfo::name, name)));
  }
  for (const PresetInfo& info : systems) {
    const study::SystemSpec spec = system_of(info.name);
    EXPECT_EQ(spec.name, info.name);
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_FALSE(spec.sources.empty()) << info.name;
    EXPECT_FALSE(spec.machine.gpu.name.empty()) << info.name;
  }
}

TEST(Presets, EveryGpuLoads) {
  const auto gpus = list_gpus();
  EXPECT_EQ(gpus.size(), preset_names(FileKind::kGpu).size());
  for (const char* name : {"r9nano", "v100", "a100-40", "a100-80", "h100", "h200", "b200", "mi300x"}) {
    EXPECT_THAT(gpus, Contains(Field(&PresetInfo::name, name)));
  }
  for (const PresetInfo& info : gpus) {
    const sim::Result<gpu::GpuSpec> r = load_gpu(info.name);
    ASSERT_EQ(error_of(r), "");
    EXPECT_EQ(r.value().name, info.name);
    EXPECT_FALSE(r.value().sources.empty()) << info.name;
  }
}

TEST(Presets, HaveTheFiguresOfTheMachines) {
  const study::SystemSpec h100 = system_of("hgx-h100");
  EXPECT_EQ(h100.machine.gpus, 8);
  EXPECT_EQ(h100.machine.fabric.links_per_plane, (std::vector<int>{5, 4, 4, 5}));
  EXPECT_EQ(h100.machine.gpu.hbm.bandwidth, 3350_GBps);
  const study::SystemSpec h200 = system_of("hgx-h200");
  EXPECT_EQ(h200.machine.gpu.name, "h200");
  EXPECT_EQ(h200.machine.gpu.sms, 132);
  EXPECT_EQ(h200.machine.gpu.hbm.bandwidth, 4800_GBps);
  EXPECT_EQ(h200.machine.fabric.planes, 4);
  const study::SystemSpec rack = system_of("gb200-nvl72");
  EXPECT_EQ(rack.machine.gpus, 72);
  EXPECT_EQ(rack.machine.fabric.planes, 18);
  EXPECT_EQ(rack.machine.fabric.links_per_plane, std::vector<int>{1});
  EXPECT_EQ(rack.machine.fabric.link.rate, 50_GBps);
  EXPECT_EQ(rack.machine.fabric.switch_chip.latency, 150_ns);
  const study::SystemSpec klenk = system_of("klenk-128");
  EXPECT_EQ(klenk.machine.gpu.l2.latency, 118_ns);
  EXPECT_EQ(klenk.machine.gpu.launch, 0_ns);
  EXPECT_EQ(klenk.machine.gpu.sms, 80);
  EXPECT_EQ(system_of("r9nano-pcie-4").machine.fabric.packet.header, 24_B);
}

TEST(Presets, UnknownNamesGetTheNearest) {
  EXPECT_EQ(error_of(load_system("hgx-h10", {})), "unknown system 'hgx-h10' (did you mean 'hgx-h100'?)");
  EXPECT_EQ(error_of(load_gpu("a10080")), "unknown gpu 'a10080' (did you mean 'a100-80'?)");
  EXPECT_EQ(error_of(load_system("h200", {})), "unknown system 'h200' (that is a gpu)");
  EXPECT_THAT(error_of(load_system("cray", {})), HasSubstr("(there are: dgx-a100, "));
  EXPECT_THAT(error_of(load_system("", {})), HasSubstr("unknown system ''"));
}

TEST(Presets, AreOfEitherKindToLoadAny) {
  EXPECT_TRUE(std::holds_alternative<gpu::GpuSpec>(load_any("h200", {}).value()));
  EXPECT_TRUE(std::holds_alternative<study::SystemSpec>(load_any("dgx2", {}).value()));
}

using Files = ScratchTest;

TEST_F(Files, OverrideWhatTheirBaseSays) {
  const std::string path = write("mine.yaml",
                                 "kind: system\nbase: hgx-h100\ngpus: 4\nfabric:\n  link: {latency: 1 us}\n"
                                 "gpu:\n  hbm: {bandwidth: 1 TB/s}\n");
  const study::SystemSpec s = system_of(path);
  EXPECT_EQ(s.name, "mine");
  EXPECT_EQ(s.machine.gpus, 4);
  EXPECT_EQ(s.machine.fabric.link.latency, 1_us);
  EXPECT_EQ(s.machine.fabric.link.rate, 25_GBps);
  EXPECT_EQ(s.machine.fabric.planes, 4);
  EXPECT_EQ(s.machine.gpu.sms, 132);
  EXPECT_EQ(s.machine.gpu.hbm.bandwidth, 1000_GBps);
}

TEST_F(Files, AGpuWithItsOwnBaseReplacesTheInheritedOne) {
  const std::string path =
      write("mine.yaml", "kind: system\nbase: hgx-h100\ngpu:\n  base: v100\n  name: slow\n  sms: 40\n");
  const study::SystemSpec s = system_of(path);
  EXPECT_EQ(s.machine.gpu.name, "slow");
  EXPECT_EQ(s.machine.gpu.sms, 40);
  EXPECT_EQ(s.machine.gpu.hbm.bandwidth, 900_GBps);
}

TEST_F(Files, ReferencesAreRelativeToTheFileThatHasThem) {
  write("parts/gpu.yaml", "kind: gpu\nbase: h100\nsms: 100\n");
  write("parts/base.yaml", "kind: system\ngpu: ./gpu.yaml\ngpus: 2\n");
  const std::string path = write("mine.yaml", "kind: system\nbase: parts/base.yaml\n");
  const study::SystemSpec s = system_of(path);
  EXPECT_EQ(s.machine.gpu.sms, 100);
  EXPECT_EQ(s.machine.gpu.name, "gpu");
  EXPECT_EQ(s.machine.gpus, 2);
}

TEST_F(Files, AnErrorInABaseIsReportedThere) {
  write("base.yaml", "kind: system\ngpus: many\n");
  const std::string path = write("mine.yaml", "kind: system\nzzz: 1\nbase: base.yaml\n");
  EXPECT_EQ(error(load_system(path, {})), "base.yaml:2:7: gpus: expected a whole number, not 'many'");
}

TEST_F(Files, CyclesAndLongChainsAreRefused) {
  const std::string self = write("self.yaml", "kind: system\nbase: ./self.yaml\n");
  EXPECT_THAT(error(load_system(self, {})),
              HasSubstr("self.yaml:2:7: base './self.yaml': bases form a cycle: self.yaml -> self.yaml"));
  const std::string a = write("a.yaml", "kind: system\nbase: b.yaml\n");
  write("b.yaml", "kind: system\nbase: sub/../a.yaml\n");
  write("sub/x", "");
  EXPECT_EQ(error(load_system(a, {})),
            "b.yaml:2:7: base 'sub/../a.yaml': bases form a cycle: a.yaml -> b.yaml -> a.yaml");
  for (int i = 0; i < 20; ++i) {
    write(fmt::format("c{}.yaml", i), fmt::format("kind: gpu\nbase: c{}.yaml\n", i + 1));
  }
  EXPECT_EQ(error(load_gpu((folder_ / "c0.yaml").string())),
            "c15.yaml:2:7: base 'c16.yaml': more than 16 files build on each other");
}

TEST_F(Files, TheKindMustFit) {
  const std::string gpu = write("g.yaml", "kind: gpu\nbase: h100\n");
  EXPECT_EQ(error(load_system(gpu, {})), "g.yaml:1:7: this is a gpu, expected a system");
  EXPECT_TRUE(load_any(gpu, {}).has_value());
  const std::string sys = write("s.yaml", "kind: system\nbase: g.yaml\n");
  EXPECT_EQ(error(load_any(sys, {})), "s.yaml:2:7: base 'g.yaml': it is a gpu, not a system");
  EXPECT_EQ(error(load_any(write("k.yaml", "kind: sistem\n"), {})),
            "k.yaml:1:7: kind: unknown value 'sistem' (did you mean 'system'?)");
  EXPECT_EQ(error(load_any(write("n.yaml", "gpus: 8\n"), {})),
            "n.yaml:1:1: missing key 'kind' (write 'kind: system', 'kind: gpu' or 'kind: model')");
}

TEST_F(Files, WhatCanNotBeReadIsRefused) {
  EXPECT_EQ(error(load_system((folder_ / "none.yaml").string(), {})), "none.yaml: no such file");
  EXPECT_EQ(error(load_system(folder_.string() + "/.", {})), ".: cannot read it: it is a directory");
  EXPECT_EQ(error_of(load_system("/dev/zero", {})), "/dev/zero: cannot read it: it is not a regular file");
  // As /proc/kmsg, which would block; a file that states no size is not read.
  EXPECT_EQ(error_of(load_system("/proc/version", {})), "/proc/version:1:1: the file is empty");
  const std::string huge = write("huge.yaml", "kind: system\n" + std::string(kLargestFile, '#'));
  EXPECT_EQ(error(load_system(huge, {})), "huge.yaml: cannot read it: it is larger than 1 MiB");
  EXPECT_THAT(error_of(load_system(std::string(5000, 'x') + ".yaml", {})), HasSubstr("File name too long"));
  EXPECT_EQ(error_of(load_system(std::string_view("a\0b.yaml", 8), {})).substr(8),
            ": a name cannot hold a NUL byte");
}

TEST_F(Files, ARefusalPointsAtTheKeyThatCausedIt) {
  const std::string path =
      write("m.yaml", "kind: system\nbase: dgx-a100\nfabric:\n  topology: torus\n  link: {}\n");
  const auto refuse = [](std::string where) {
    return [where](const study::SystemSpec&) -> sim::Status { return sim::fail("no", where); };
  };
  EXPECT_EQ(error(load_system(path, refuse("fabric.topology"))), "m.yaml:4:3: fabric.topology: no");
  EXPECT_EQ(error(load_system(path, refuse("fabric.dims"))), "m.yaml:3:1: fabric.dims: no");
  EXPECT_EQ(error(load_system(path, refuse("gpus"))), "m.yaml:2:1: gpus: no");
  EXPECT_EQ(error(load_system(path, refuse(""))), "m.yaml:2:1: no");
  EXPECT_EQ(error(load_any(path, refuse("fabric.link.rate"))), "m.yaml:5:3: fabric.link.rate: no");
}

TEST_F(Files, ABaseOfAnotherTopologyCanBeBuiltOn) {
  const std::string path =
      write("m.yaml", "kind: system\nbase: dgx-a100\nfabric: {topology: torus, dims: [4, 2]}\n");
  EXPECT_TRUE(load_system(path, {}));
  const std::string wrong =
      write("w.yaml", "kind: system\nbase: m.yaml\nfabric:\n  planes: 2\n  links_per_neighbour: 2\n");
  EXPECT_EQ(error(load_system(wrong, {})),
            "w.yaml:4:3: fabric.planes: the topology torus has no use for it; it shapes switch-planes");
}

TEST_F(Files, TheValidatorSeesTheWholeSystem) {
  const std::string path = write("m.yaml", "kind: system\nbase: dgx-a100\ngpus: 3\n");
  int seen = 0;
  const auto accept = [&](const study::SystemSpec& s) -> sim::Status {
    seen = s.machine.gpus * 100 + s.machine.fabric.planes;
    return {};
  };
  EXPECT_TRUE(load_system(path, accept).has_value());
  EXPECT_EQ(seen, 306);
}

TEST_F(Files, WithSetOnlyWhatComesOfItIsValidated) {
  std::vector<int> seen;
  const auto accept = [&](const study::SystemSpec& s) -> sim::Status {
    seen.push_back(s.machine.gpus);
    return {};
  };
  const std::vector<std::string> sets = {"gpus=4"};
  EXPECT_TRUE(load_system("dgx-a100", sets, accept));
  EXPECT_EQ(seen, std::vector{4}) << "once, and not the file's 8";
}

TEST_F(Files, WithSetTheFileIsBlamedForItsOwnFaults) {
  const std::string path = write("m.yaml", "kind: system\nbase: dgx-a100\ngpus: 3\n");
  const std::vector<std::string> sets = {"fabric.link.latency=1us"};
  const auto refuse_three = [](const study::SystemSpec& s) -> sim::Status {
    if (s.machine.gpus == 3) return sim::fail("three", "gpus");
    return sim::fail("not three", "gpus");
  };
  EXPECT_EQ(error(load_system(path, sets, refuse_three)), "m.yaml:3:1: gpus: three");
  const std::string good = write("g.yaml", "kind: system\nbase: dgx-a100\ngpus: 4\n");
  const std::vector<std::string> three = {"gpus=3"};
  const auto only_four = [](const study::SystemSpec& s) -> sim::Status {
    if (s.machine.gpus == 4) return {};
    return sim::fail("not four", "gpus");
  };
  EXPECT_EQ(error(load_system(good, three, only_four)), "--set: gpus: not four");
}

TEST_F(Files, AllThatIsReadIsKnown) {
  const std::string gpu = write("parts/gpu.yaml", "kind: gpu\nbase: deeper/gpu.yaml\n");
  const std::string deeper = write("parts/deeper/gpu.yaml", "kind: gpu\nbase: h100\n");
  const std::string base = write("base.yaml", "kind: system\nbase: dgx-a100\ngpu: {base: parts/gpu.yaml}\n");
  const std::string top = write("top.yaml", "kind: system\nbase: ./base.yaml\n");
  EXPECT_THAT(files_behind(top), UnorderedElementsAre(top, base, gpu, deeper));
  EXPECT_THAT(files_behind(gpu), UnorderedElementsAre(gpu, deeper));
  EXPECT_THAT(files_behind("dgx-a100"), IsEmpty());
  // What is wrong in a file does not hide it.
  const std::string wrong = write("wrong.yaml", "kind: system\nbase: base.yaml\ngpus: many\n");
  EXPECT_THAT(files_behind(wrong), UnorderedElementsAre(wrong, base, gpu, deeper));
  const std::string no_yaml = write("no.yaml", "{");
  EXPECT_THAT(files_behind(no_yaml), UnorderedElementsAre(no_yaml));
}

TEST_F(Files, AGpuHasAName) {
  const auto name = [&](std::string_view text) {
    const auto loaded = load_system(write("s.yaml", text), {});
    return loaded ? loaded.value().machine.gpu.name : error_of(loaded);
  };
  EXPECT_EQ(name("kind: system\ngpus: 4\n"), "unnamed-gpu");
  EXPECT_EQ(name("kind: system\ngpu: {sms: 100}\n"), "unnamed-gpu");
  EXPECT_EQ(name("kind: system\ngpu: {name: mine, sms: 100}\n"), "mine");
  EXPECT_EQ(name("kind: system\nbase: hgx-h100\n"), "h100");
}

TEST_F(Files, NamesAreWords) {
  EXPECT_EQ(error(load_any(write("n.yaml", "kind: gpu\nname: 'a b'\n"), {})),
            "n.yaml:2:7: name: 'a b' is not a name (at most 64 of letters, digits, . _ - +)");
  EXPECT_THAT(error(load_any(write("g.yaml", "kind: system\ngpu: {name: ../x}\n"), {})),
              HasSubstr("g.yaml:2:13: name:"));
  EXPECT_THAT(error(load_any(write("s.yaml", "kind: gpu\nsources: [a, [b]]\n"), {})),
              HasSubstr("s.yaml:2:14: sources: expected text, not a list"));
}

}  // namespace
}  // namespace infold::config
