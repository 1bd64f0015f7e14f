// The matrix of nvidia-smi topo -m: machines with switches, meshes, PCIe, and what is refused.
#include "formats/topology/nvidia_topo.h"

#include "config/catalog.h"
#include "helpers.h"

namespace infold::formats {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A matrix of n GPUs of which each pair has this word.
std::string topo_matrix(int n, const std::string& word, const std::string& more = "") {
  std::string text = "\t";
  for (int g = 0; g < n; ++g) text += "\x1b[4mGPU" + std::to_string(g) + "\t";
  text += "NIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n";
  for (int a = 0; a < n; ++a) {
    text += "GPU" + std::to_string(a);
    for (int b = 0; b < n; ++b) text += a == b ? "\t X " : "\t" + word;
    text += "\tPXB\t0-47\t0\n";
  }
  return text + "NIC0\tPXB\tPXB\n" + more +
         "\nLegend:\n\n  X    = Self\n  NV#  = a bonded set of # NVLinks\n";
}
std::string topo_refusal(const std::string& text, const std::string& gpu = "") {
  const auto read = read_nvidia_topo(text, "topo.txt", "topo", gpu);
  return read ? "" : to_string(read.error());
}

TEST(NvidiaTopo, EightGpusWithAllLinksToSwitchesAreTheKnownMachine) {
  const auto read = read_nvidia_topo(topo_matrix(8, "NV18"), "topo.txt", "topo", "h100");
  ASSERT_TRUE(read) << read.error().message;
  const auto known = config::load_system("hgx-h100", config::Validate{});
  EXPECT_EQ(read->system.machine.gpus, 8);
  EXPECT_EQ(read->system.machine.gpu.name, "h100");
  EXPECT_EQ(read->system.machine.fabric.links_per_plane, known->machine.fabric.links_per_plane);
  EXPECT_EQ(read->system.machine.inc.unit, inc::Unit::kNvls);
  EXPECT_THAT(read->notes.ignored, Contains(HasSubstr("1 network interfaces (NIC0")));
}

TEST(NvidiaTopo, SaysWhichGpusItAssumes) {
  const auto read = read_nvidia_topo(topo_matrix(8, "NV12"), "topo.txt", "topo");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->system.machine.gpu.name, "a100-80");
  EXPECT_THAT(read->notes.assumed, Contains(HasSubstr("the GPUs are a100-80")));
}

TEST(NvidiaTopo, FewLinksToEachAreAMesh) {
  const auto read = read_nvidia_topo(topo_matrix(4, "NV4"), "topo.txt", "topo", "a100-80");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->system.machine.fabric.topology, net::Topology::kFullMesh);
  EXPECT_EQ(read->system.machine.fabric.links_per_neighbour, 4);
}

TEST(NvidiaTopo, WithoutNvlinksItIsAPcieTree) {
  const std::string text =
      "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\tX\tPIX\tSYS\tSYS\nGPU1\tPIX\tX\tSYS\tSYS\nGPU2\tSYS\tSYS\tX\tPXB\nGPU3"
      "\tSYS\tSYS\tPXB\tX\n";
  const auto read = read_nvidia_topo(text, "topo.txt", "topo", "a100-80");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->system.machine.fabric.topology, net::Topology::kPcieTree);
  EXPECT_EQ(read->system.machine.fabric.groups, 2);
  EXPECT_THAT(topo_refusal(text), HasSubstr("does not say which GPUs"));
}

TEST(NvidiaTopo, RefusesWhatIsNoMatrixWithItsPlace) {
  EXPECT_THAT(topo_refusal("\tGPU0\tGPU1\nGPU0\tX\tNV4\n"), HasSubstr("no whole matrix"));
  EXPECT_THAT(topo_refusal("\tGPU0\tGPU1\nGPU0\tX\tNV4\nGPU1\tNV2\tX\n", "v100"),
              HasSubstr("topo.txt:3:1: GPU1 and GPU0 do not agree"));
  EXPECT_THAT(topo_refusal("\tGPU0\tGPU1\nGPU0\tX\tFAR\nGPU1\tFAR\tX\n"),
              HasSubstr("topo.txt:2:1: column 2: 'FAR'"));
  EXPECT_THAT(topo_refusal("\tGPU0\tGPU1\nGPU0\tX\tNV999\nGPU1\tNV999\tX\n"),
              HasSubstr("NV999 is not a number of links"));
  EXPECT_THAT(topo_refusal(topo_matrix(8, "NV17")), HasSubstr("no preset has 8 GPUs with 17 NVLinks"));
  EXPECT_THAT(topo_refusal("nothing"), HasSubstr("no whole matrix"));
}

}  // namespace
}  // namespace infold::formats
