// Topology files of NCCL and RCCL: the machines that they make, what is noted, and how others are refused.
#include "config/catalog.h"
#include "config/yaml/dump.h"
#include "formats/catalog.h"
#include "formats/topology/gpu_names.h"
#include "formats/topology/nccl_topology.h"
#include "formats/topology/topology_system.h"
#include "helpers.h"
#include "study/check.h"

namespace infold::formats {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A dump of a machine: GPUs below a bridge each, with these elements inside their <gpu>.
struct Dump {
  std::string device = "0x2330";
  std::string sm = "90";
  std::string extra = {};
  std::string version = "1";
  std::string speed = "32.0 GT/s PCIe";
  bool one_bridge = false;
  std::vector<std::string> links;

  std::string text() const {
    std::string out = fmt::format(
        "<!-- made by hand -->\n<system version=\"{}\">\n  <cpu numaid=\"0\" arch=\"x86_64\">\n", version);
    const auto bridge = [&](std::size_t g) {
      return fmt::format(
          "    <pci busid=\"0000:{:02x}:00.0\" class=\"0x060400\" link_speed=\"{}\" link_width=\"16\">\n",
          16 + g, speed);
    };
    for (std::size_t g = 0; g < links.size(); ++g) {
      if (!one_bridge || g == 0) out += bridge(g);
      out += fmt::format(
          "      <pci busid=\"0000:{:02x}:00.1\" class=\"0x030200\" vendor=\"0x10de\" device=\"{}\" "
          "link_speed=\"{}\" "
          "link_width=\"16\">\n        <gpu dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\"{}>\n{}        "
          "</gpu>\n      </pci>\n",
          48 + g, device, speed, g, sm, g, extra, links[g]);
      if (!one_bridge || g + 1 == links.size()) out += "    </pci>\n";
    }
    return out + "    <nic><net name=\"mlx5_0\" dev=\"0\" speed=\"200000\"/></nic>\n  </cpu>\n</system>\n";
  }
};

std::string to_switches(std::vector<int> counts) {
  std::string text;
  for (std::size_t s = 0; s < counts.size(); ++s)
    text += fmt::format("          <nvlink target=\"0000:{:02X}:00.0\" count=\"{}\" tclass=\"0x068000\"/>\n",
                        0xa0 + s, counts[s]);
  return text;
}
std::string to_gpus(const std::vector<int>& counts, std::string_view element = "nvlink") {
  std::string text;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (counts[g] > 0)
      text += fmt::format("          <{} target=\"0000:{:02x}:00.1\" count=\"{}\" tclass=\"0x030200\"/>\n",
                          element, 48 + g, counts[g]);
  }
  return text;
}
Dump switched(int gpus, const std::vector<int>& counts) {
  Dump dump;
  dump.links.assign(static_cast<std::size_t>(gpus), to_switches(counts));
  return dump;
}
Dump meshed(int gpus, int links) {
  Dump dump;
  for (int g = 0; g < gpus; ++g) {
    std::vector<int> row(static_cast<std::size_t>(gpus), links);
    row[static_cast<std::size_t>(g)] = 0;
    dump.links.push_back(to_gpus(row));
  }
  return dump;
}

SystemImport taken_system(const std::string& text, const std::string& gpu = {}) {
  auto read = read_topology_system(text, "topo.xml", "topo", gpu);
  EXPECT_EQ(error_of(read), "");
  if (!read) return {};
  EXPECT_EQ(error_of(study::check(read->system)), "");
  return std::move(*read);
}
std::string system_refusal(const std::string& text) {
  return error_of(read_topology_system(text, "topo.xml", "topo"));
}
study::SystemSpec preset(std::string_view name) {
  auto loaded = config::load_system(name, config::Validate{});
  EXPECT_EQ(error_of(loaded), "");
  return std::move(*loaded);
}
/// What a simulation sees of a system: all but its name and where it comes from.
std::string machine_of(study::SystemSpec system) {
  system.name = system.summary = "";
  system.sources.clear();
  return config::to_yaml(system);
}

TEST(NcclTopology, OfAnH100NodeIsTheSameMachineAsThePreset) {
  const SystemImport read = taken_system(switched(8, {4, 5, 5, 4}).text());
  EXPECT_EQ(machine_of(read.system), machine_of(preset("hgx-h100")));
  EXPECT_EQ(read.system.name, "topo");
  EXPECT_THAT(read.notes.assumed, Contains(HasSubstr("GPU preset h100 (device 0x2330)")));
  EXPECT_THAT(read.notes.assumed, Contains(HasSubstr("those of preset hgx-h100")));
  EXPECT_THAT(read.notes.ignored,
              ElementsAre("the PCIe tree (8 bridges)", "1 network interfaces (mlx5_0, ...)"));
}

TEST(NcclTopology, GivesNumberAndLinksOfTheGpus) {
  const SystemImport four = taken_system(switched(4, {4, 5, 5, 4}).text());
  EXPECT_EQ(four.system.machine.gpus, 4);
  const SystemImport fewer = taken_system(switched(8, {2, 3}).text());
  EXPECT_EQ(fewer.system.machine.fabric.planes, 2);
  EXPECT_THAT(fewer.system.machine.fabric.links_per_plane, ElementsAre(2, 3));
}

TEST(NcclTopology, GivesEachGpuTheLinksThatAllHave) {
  Dump dump = switched(8, {5, 4, 4, 5});
  dump.links[3] = to_switches({5, 4, 3, 5});
  const SystemImport read = taken_system(dump.text());
  EXPECT_THAT(read.system.machine.fabric.links_per_plane, ElementsAre(5, 4, 3, 5));
  EXPECT_THAT(
      read.notes.assumed,
      Contains(
          "switch 0000:a2:00.0: 3 links from each GPU, because GPU 3 has no more (others have up to 4)"));
}

TEST(NcclTopology, KnowsMeshesAndRings) {
  Dump mesh = meshed(4, 4);
  mesh.device = "0x20b2";
  mesh.sm = "80";
  const SystemImport four = taken_system(mesh.text());
  EXPECT_EQ(four.system.machine.fabric.topology, net::Topology::kFullMesh);
  EXPECT_EQ(four.system.machine.fabric.links_per_neighbour, 4);
  EXPECT_EQ(four.system.machine.gpu.name, "a100-80");
  EXPECT_EQ(four.system.machine.inc.unit, inc::Unit::kNone);

  Dump ring;
  for (std::size_t g = 0; g < 5; ++g) {
    std::vector<int> row(5);
    row[(g + 1) % 5] = row[(g + 4) % 5] = 2;
    ring.links.push_back(to_gpus(row));
  }
  EXPECT_EQ(taken_system(ring.text()).system.machine.fabric.topology, net::Topology::kRing);
}

TEST(NcclTopology, KnowsTheCubeMeshOfDgx1) {
  const std::vector<std::vector<int>> cube = {
      {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
      {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  Dump dump;
  dump.device = "0x1db5";
  dump.sm = "70";
  for (const auto& row : cube) dump.links.push_back(to_gpus(row));
  EXPECT_EQ(machine_of(taken_system(dump.text()).system), machine_of(preset("dgx1-v100")));
  dump.links[0] = to_gpus({0, 2, 1, 1, 2, 0, 0, 0});
  dump.links[1] = to_gpus({2, 0, 2, 1, 0, 1, 0, 0});
  EXPECT_THAT(system_refusal(dump.text()),
              HasSubstr("topo.xml:35:7: GPU 3 has 2 links to GPU 0, which has 1 back"));
}

TEST(RcclTopology, OfAnMi300xNodeIsTheSameMachineAsThePreset) {
  Dump dump = meshed(8, 1);
  dump.version = "2";
  dump.device = "0x74a1";
  dump.sm = "304";
  dump.extra = " gcn=\"gfx942\" arch=\"38911\"";
  for (std::string& links : dump.links) {
    for (std::size_t at = links.find("nvlink"); at != std::string::npos; at = links.find("nvlink"))
      links.replace(at, 6, "xgmi");
  }
  const SystemImport read = taken_system(dump.text());
  EXPECT_EQ(machine_of(read.system), machine_of(preset("mi300x-8")));
  EXPECT_THAT(read.system.summary, HasSubstr("RCCL"));
}

TEST(NcclTopology, WithoutLinksIsAPcieTree) {
  Dump dump;
  dump.speed = "16 GT/s";
  dump.links.assign(4, "");
  dump.one_bridge = true;
  const SystemImport one = taken_system(dump.text());
  EXPECT_EQ(one.system.machine.fabric.topology, net::Topology::kPcieTree);
  EXPECT_EQ(one.system.machine.fabric.groups, 1);
  EXPECT_NEAR(static_cast<double>(one.system.machine.fabric.link.rate.count_bytes_per_s()), 31.508e9, 1e6);
  dump.one_bridge = false;
  EXPECT_THAT(taken_system(dump.text()).notes.assumed,
              Contains("the CPU joins the GPUs like one PCIe switch"));
}

constexpr std::string_view kVirtual = R"(<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="8 GT/s" link_width="16">
{}    </pci>
  </cpu>
</system>
)";
std::string virtual_machine(int gpus, std::string_view device) {
  std::string devices;
  for (int g = 0; g < gpus; ++g)
    devices += fmt::format(
        "      <pci busid=\"0000:10:{:02x}.0\" class=\"0x030200\"{} link_speed=\"8 GT/s\" "
        "link_width=\"16\"/>\n",
        g, device);
  return fmt::format(fmt::runtime(kVirtual), devices);
}

TEST(NcclTopology, OfAVirtualMachineTakesTheLinksOfAPreset) {
  const SystemImport read = taken_system(virtual_machine(8, " device=\"0x20b0\""));
  EXPECT_EQ(read.system.machine.gpu.name, "a100-40");
  study::SystemSpec expected = preset("dgx-a100");
  expected.machine.gpu = *config::load_gpu("a100-40");
  EXPECT_EQ(machine_of(read.system), machine_of(expected));
  EXPECT_THAT(read.notes.assumed, Contains(HasSubstr("does not say how its GPUs are joined")));
  EXPECT_THAT(system_refusal(virtual_machine(7, " device=\"0x20b0\"")), HasSubstr("no preset of 7 a100-40"));
}

TEST(NcclTopology, OfUnnamedGpusAsksForThem) {
  const std::string text = virtual_machine(8, "");
  EXPECT_EQ(system_refusal(text),
            "topo.xml:4:7: the file does not say which GPUs these are (no device, sm or gcn); 'infold import "
            "FILE --gpu NAME' takes "
            "another's");
  EXPECT_EQ(taken_system(text, "h100").system.machine.gpu.name, "h100");
  EXPECT_THAT(error_of(read_topology_system(text, "topo.xml", "topo", "h101")),
              HasSubstr("did you mean 'h100'?"));
}

TEST(NcclTopology, RefusesOtherMachinesWithTheirPlace) {
  Dump odd = switched(2, {4});
  odd.device = "0x1234";
  odd.sm = "61";
  EXPECT_THAT(
      system_refusal(odd.text()),
      HasSubstr(
          "topo.xml:5:7: there is no preset of this GPU (device 0x1234, sm 61); there are sm 70 (v100)"));
  Dump pairs;
  pairs.links = {to_gpus({0, 1, 0, 0}), to_gpus({1, 0, 0, 0}), to_gpus({0, 0, 0, 1}), to_gpus({0, 0, 1, 0})};
  EXPECT_THAT(system_refusal(pairs.text()),
              HasSubstr("neither a full mesh, a cube mesh nor a ring (GPU 0 has 0 1 0 0)"));
  pairs.links[1] = to_gpus({1, 0, 0, 0, 0, 3});
  EXPECT_THAT(system_refusal(pairs.text()),
              HasSubstr("topo.xml:15:11: a link to '0000:35:00.1', which is no GPU of this file"));
  EXPECT_EQ(system_refusal("<system version=\"1\"><cpu/></system>"), "topo.xml:1:1: there are no GPUs in it");
  EXPECT_EQ(system_refusal("<sistem/>"), "topo.xml:1:1: expected <system>, not <sistem>");
  std::string text = switched(2, {4}).text();
  text.replace(text.find("count=\"4\""), 9, "count=\"x\"");
  EXPECT_EQ(system_refusal(text), "topo.xml:7:11: <nvlink> count: 'x' is not a whole number from 1 to 1024");
}

class TopologyFile : public FolderTest {};

TEST_F(TopologyFile, IsASystemWhereverOneIsTaken) {
  const std::string file = write("node.xml", switched(8, {5, 4, 4, 5}).text());
  const auto system = load_system(file, {}, study::check);
  ASSERT_EQ(error_of(system), "");
  EXPECT_EQ(system->name, "node");
  const std::vector<std::string> sets = {"coll.channels=2"};
  EXPECT_EQ(load_system(file, sets, study::check)->coll.channels, 2);
  const std::vector<std::string> wrong = {"coll.chanels=2"};
  EXPECT_THAT(error_of(load_system(file, wrong, study::check)), HasSubstr("did you mean"));
  const std::string yaml = write("again.yaml", config::to_yaml(*system));
  EXPECT_EQ(machine_of(*load_system(yaml, {}, study::check)), machine_of(*system));
  EXPECT_THAT(error_of(load_system(write("m.json", "{\"model_type\": \"llama\"}"), {}, study::check)),
              HasSubstr("this is the config.json of a Hugging Face model, expected a system"));
}

}  // namespace
}  // namespace infold::formats
