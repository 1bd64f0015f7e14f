// The network between nodes: what is drawn for which counts, that it cannot block itself, and that tables
// stay small.
#include "net/topology/scale_out.h"

#include <gtest/gtest.h>

#include <map>

#include "fabric_help.h"

namespace infold::net {
namespace {

using namespace sim::literals;

const NicPorts kPorts{.rate = 50_GBps, .packet = {.payload = 4_KiB, .header = 26_B, .ack = 30_B}};

Blueprint between(const ScaleOutSpec& spec, int nodes, int nics) {
  auto drawing = draw_scale_out(spec, kPorts, nodes, nics);
  if (!drawing) {
    ADD_FAILURE() << drawing.error().parameter << ": " << drawing.error().message;
    return {};
  }
  return *std::move(drawing);
}

ScaleOutSpec spec_of(ScaleOutShape shape, int nodes_per_leaf, int spines, int uplinks) {
  ScaleOutSpec spec;
  spec.shape = shape;
  spec.nodes_per_leaf = nodes_per_leaf;
  spec.spines = spines;
  spec.uplinks = uplinks;
  return spec;
}

TEST(ScaleOut, NicsOfARailAreOneLeafApart) {
  const Blueprint b = between(spec_of(ScaleOutShape::kRails, 4, 2, 1), 4, 8);
  EXPECT_EQ(b.switches, 8 + 2) << "a leaf per rail, and spines";
  const Routes routes = routes_of(b);
  for (int rail = 0; rail < 8; ++rail) {
    EXPECT_EQ(routes.hop(rail, 8 + rail).links, 2) << "NIC, leaf, NIC";
    EXPECT_EQ(routes.hop(rail, 8 + (rail + 1) % 8).links, 4) << "over a spine";
  }
}

TEST(ScaleOut, UnitsAreJoinedBySpines) {
  const Blueprint b = between(spec_of(ScaleOutShape::kRails, 2, 4, 2), 5, 2);
  EXPECT_EQ(b.switches, 3 * 2 + 4) << "two leaves for each unit that has begun";
  const Routes routes = routes_of(b);
  EXPECT_EQ(routes.hop(0, 2).links, 2) << "in the unit";
  EXPECT_EQ(routes.hop(0, 4).links, 4) << "in the next";
  EXPECT_EQ(routes.hop(b.gpus, 4).count, 4 * 2) << "a leaf has every cable to every spine to choose from";
}

TEST(ScaleOut, OneLeafNeedsNoSpine) {
  const Blueprint b = between(spec_of(ScaleOutShape::kLeafSpine, 8, 4, 2), 8, 4);
  EXPECT_EQ(b.switches, 1);
  EXPECT_EQ(b.cables.size(), 32u);
}

TEST(ScaleOut, NoneCanBlockItself) {
  for (const auto shape : {ScaleOutShape::kRails, ScaleOutShape::kLeafSpine}) {
    for (const int nodes : {2, 3, 5, 8}) {
      for (const int nics : {1, 2, 8})
        EXPECT_EQ(deadlock_in(between(spec_of(shape, 2, 3, 2), nodes, nics)), std::nullopt);
    }
  }
}

TEST(ScaleOut, TablesGrowWithLeavesAndNotWithNics) {
  const Routes routes = routes_of(between(spec_of(ScaleOutShape::kRails, 32, 4, 8), 32, 8));
  EXPECT_EQ(routes.twins().gpu_groups(), 8u) << "the NICs below a leaf have the same ways";
}

TEST(ScaleOut, TooManyChipsAreRefusedByName) {
  const auto refused = draw_scale_out(spec_of(ScaleOutShape::kRails, 1, 4096, 256), kPorts, 4096, 8);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().parameter, "scale_out.spines");
}

TEST(WholeMachine, IsItsNodesAndTheirNetwork) {
  FabricSpec fabric;
  fabric.planes = 2;
  const Blueprint node = drawn(fabric, 4);
  const Blueprint out = between(spec_of(ScaleOutShape::kRails, 2, 1, 1), 3, 4);
  LinkType bus = node.link_types.front();
  bus.kind = LinkKind::kPcie;
  const Blueprint all = whole_machine(node, 3, bus, out).value();
  EXPECT_EQ(all.gpus, 12);
  EXPECT_EQ(all.gpus_per_node, 4);
  EXPECT_EQ(all.node_of(3), 0);
  EXPECT_EQ(all.node_of(4), 1);
  EXPECT_EQ(all.nodes(), 12 + 3 * 2 + out.nodes());
  EXPECT_EQ(all.cables.size(), 3 * node.cables.size() + 12 + out.cables.size());
  std::map<NodeRole, int> roles;
  for (NodeId chip = 0; chip < all.nodes(); ++chip) ++roles[all.role(chip)];
  EXPECT_EQ(roles[NodeRole::kNic], 12);
  for (const Cable& c : all.cables) {
    const bool at_nic = all.role(c.b) == NodeRole::kNic;
    if (all.role(c.a) == NodeRole::kNic) {
      EXPECT_EQ(all.type_of(c).kind, LinkKind::kInfiniBand);
    } else if (all.is_gpu(c.a) && at_nic) {
      EXPECT_EQ(all.type_of(c).kind, LinkKind::kPcie);
    } else if (all.is_gpu(c.a)) {
      EXPECT_EQ((c.b - 12) / 2, all.node_of(c.a)) << "its own node's switches";
    }
  }
}

}  // namespace
}  // namespace infold::net
