// What draw() refuses, which parameter it blames, and that no number is too large to be refused.
#include <gmock/gmock.h>

#include <climits>
#include <functional>

#include "fabric_help.h"

namespace infold::net {
namespace {

using testing::HasSubstr;

sim::Error refused(const FabricSpec& spec, int gpus) {
  const auto drawing = draw(spec, gpus);
  return drawing ? sim::Error{.message = "", .parameter = "accepted"} : drawing.error();
}

FabricSpec spec_of(Topology topology, const std::function<void(FabricSpec&)>& change = {}) {
  FabricSpec spec;
  spec.topology = topology;
  spec.dims = {4, 2};
  if (change) change(spec);
  return spec;
}

TEST(Refusals, GpusOutOfBounds) {
  for (const auto& named : kTopologyNames) {
    for (int gpus : {INT_MIN, -1, 0, 200'001, INT_MAX}) {
      EXPECT_EQ(refused(spec_of(named.value), gpus).parameter, "gpus") << named.name << " " << gpus;
    }
  }
}

TEST(Refusals, TorusSidesThatDoNotFit) {
  const auto spec = spec_of(Topology::kTorus, [](FabricSpec& s) { s.dims = {4, 4}; });
  EXPECT_EQ(refused(spec, 8).parameter, "fabric.dims");
  EXPECT_EQ(refused(spec, 8).message, "torus sides 4x4 make 16 GPUs, not 8");
}

TEST(Refusals, TorusSidesOfAnySize) {
  for (const std::vector<int>& dims : {std::vector<int>{},
                                       {8},
                                       {2, 2, 2, 1},
                                       {2, 2, 2, 2},
                                       {8, 1},
                                       {-2, -4},
                                       {0, 8},
                                       {INT_MAX, INT_MAX},
                                       {INT_MAX, INT_MAX, INT_MAX},
                                       {INT_MIN, 2},
                                       {1 << 16, 1 << 16, 2}}) {
    EXPECT_EQ(refused(spec_of(Topology::kTorus, [&](FabricSpec& s) { s.dims = dims; }), 8).parameter,
              "fabric.dims");
  }
}

TEST(Refusals, LinksPerPlaneThatDoNotMatchThePlanes) {
  const auto spec = spec_of(Topology::kSwitchPlanes, [](FabricSpec& s) {
    s.planes = 4;
    s.links_per_plane = {5, 4, 5};
  });
  EXPECT_EQ(refused(spec, 8).parameter, "fabric.links_per_plane");
  EXPECT_THAT(refused(spec, 8).message, HasSubstr("has 3 numbers"));
  EXPECT_EQ(
      refused(spec_of(Topology::kSwitchPlanes, [](FabricSpec& s) { s.links_per_plane = {}; }), 8).parameter,
      "fabric.links_per_plane");
}

struct BadCount {
  Topology topology;
  int FabricSpec::*count;
  const char* path;
};

TEST(Refusals, CountsOfAnySize) {
  const BadCount cases[] = {
      {Topology::kSwitchPlanes, &FabricSpec::planes, "fabric.planes"},
      {Topology::kFullMesh, &FabricSpec::links_per_neighbour, "fabric.links_per_neighbour"},
      {Topology::kRing, &FabricSpec::links_per_neighbour, "fabric.links_per_neighbour"},
      {Topology::kTorus, &FabricSpec::links_per_neighbour, "fabric.links_per_neighbour"},
      {Topology::kFatTree, &FabricSpec::groups, "fabric.groups"},
      {Topology::kFatTree, &FabricSpec::leaves_per_group, "fabric.leaves_per_group"},
      {Topology::kFatTree, &FabricSpec::spines, "fabric.spines"},
      {Topology::kPcieTree, &FabricSpec::groups, "fabric.groups"},
  };
  for (const BadCount& bad : cases) {
    for (int value : {INT_MIN, -1, 0, 1 << 21, INT_MAX}) {
      const auto spec = spec_of(bad.topology, [&](FabricSpec& s) {
        s.groups = 2;
        s.*bad.count = value;
      });
      EXPECT_EQ(refused(spec, 8).parameter, bad.path) << sim::name_of(bad.topology) << " " << value;
    }
  }
}

TEST(Refusals, LinksPerPlaneOfAnySize) {
  for (int links : {INT_MIN, -1, 0, 1 << 21, INT_MAX}) {
    const auto spec = spec_of(Topology::kSwitchPlanes, [&](FabricSpec& s) {
      s.planes = 4000;
      s.links_per_plane.assign(4000, links);
    });
    EXPECT_EQ(refused(spec, 96).parameter, "fabric.links_per_plane") << links;
  }
}

TEST(Refusals, UnevenGroups) {
  for (Topology topology : {Topology::kFatTree, Topology::kPcieTree}) {
    const auto spec = spec_of(topology, [](FabricSpec& s) { s.groups = 3; });
    EXPECT_EQ(refused(spec, 8).parameter, "fabric.groups");
    EXPECT_EQ(refused(spec, 8).message, "8 GPUs cannot be dealt out evenly to 3 groups");
  }
}

TEST(Refusals, SpinesThatDoNotDivideAmongTheLeaves) {
  const auto spec = spec_of(Topology::kFatTree, [](FabricSpec& s) {
    s.groups = 2;
    s.leaves_per_group = 6;
    s.spines = 8;
  });
  EXPECT_EQ(refused(spec, 8).parameter, "fabric.spines");
}

TEST(Refusals, TooFewOrTooManyGpusForTheShape) {
  EXPECT_EQ(refused(spec_of(Topology::kCubeMesh), 4).message, "a cube mesh has exactly 8 GPUs, not 4");
  EXPECT_EQ(refused(spec_of(Topology::kRing), 1).parameter, "gpus");
  EXPECT_EQ(refused(spec_of(Topology::kFullMesh), 1).parameter, "gpus");
  EXPECT_EQ(refused(spec_of(Topology::kFullMesh), 2048).parameter, "gpus") << "too many pairs";
  EXPECT_EQ(refused(spec_of(Topology::kSwitchPlanes), 200'000).parameter, "fabric.planes")
      << "no room for the switch";
  EXPECT_EQ(refused(spec_of(Topology::kPcieTree), 200'000).parameter, "fabric.groups");
}

TEST(Refusals, AnUnknownTopology) {
  EXPECT_EQ(refused(spec_of(static_cast<Topology>(99)), 8).parameter, "fabric.topology");
}

TEST(Refusals, TheBoundsThemselvesAreAccepted) {
  auto spec = spec_of(Topology::kSwitchPlanes, [](FabricSpec& s) { s.links_per_plane = {1000}; });
  EXPECT_EQ(drawn(spec, 1000).cables.size(), 1'000'000u);
  spec.links_per_plane = {1001};
  EXPECT_EQ(refused(spec, 1000).parameter, "fabric.links_per_plane");
  spec.links_per_plane = {1};
  EXPECT_EQ(drawn(spec, 199'999).nodes(), 200'000);
}

}  // namespace
}  // namespace infold::net
