// What a fabric is made of, as a user writes it down: topology, links, packets, switches.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::net {

using namespace sim::literals;

/// What a user may ask for. How large a machine can be built depends on its shape, and is refused with
/// numbers.
inline constexpr int kMostGpus = 100'000;

enum class Topology { kSwitchPlanes, kFatTree, kFullMesh, kRing, kTorus, kCubeMesh, kPcieTree };

inline constexpr std::array kTopologyNames = {
    sim::Named{Topology::kSwitchPlanes, "switch-planes", "every GPU has links to each of several switches"},
    sim::Named{Topology::kFatTree, "fat-tree",
               "groups of GPUs under leaf switches, joined by spine switches"},
    sim::Named{Topology::kFullMesh, "full-mesh", "every GPU has links to every other, no switch"},
    sim::Named{Topology::kRing, "ring", "each GPU has links to two neighbours"},
    sim::Named{Topology::kTorus, "torus", "GPUs in a wrapped grid of two or three dimensions"},
    sim::Named{Topology::kCubeMesh, "cube-mesh", "the hybrid cube mesh of DGX-1: 8 GPUs, 6 links each"},
    sim::Named{Topology::kPcieTree, "pcie-tree", "GPUs below PCIe switches below a root"},
};
constexpr std::span<const sim::Named<Topology>> names_of(Topology) {
  return kTopologyNames;
}

enum class Interleave { kStride, kHash };

inline constexpr std::array kInterleaveNames = {
    sim::Named{Interleave::kStride, "stride", "consecutive blocks go to consecutive links"},
    sim::Named{Interleave::kHash, "hash", "as stride, but each round of links starts at a hashed one"},
};
constexpr std::span<const sim::Named<Interleave>> names_of(Interleave) {
  return kInterleaveNames;
}

struct LinkSpec {
  static constexpr std::string_view kAbout = "One direction of one cable between two chips.";
  sim::Bandwidth rate = 25_GBps;
  sim::Time latency = 150_ns;
  sim::Bytes error_distance;

  template <class V>
  void visit(V& v) {
    v.field("rate", rate, sim::between(sim::Bandwidth::bytes_per_s(1'000'000), 100'000_GBps),
            "bytes that cross it per second, headers included");
    v.field("latency", latency, sim::between(0_ns, 1'000'000_ns),
            "time from leaving one chip to entering the next");
    v.field(
        "error_distance", error_distance, sim::between(0_B, 1024_GiB * 1024),
        "bytes between two bit errors, on average; each costs a replay from the packet it hit; 0: no errors");
  }
};

struct PacketSpec {
  static constexpr std::string_view kAbout =
      "How data are cut into packets, and what each costs on the wire.";
  sim::Bytes payload = 128_B;
  sim::Bytes header = 16_B;
  sim::Bytes ack = 16_B;

  template <class V>
  void visit(V& v) {
    v.field("payload", payload, sim::between(16_B, 4_KiB), "most payload of a packet that an SM stores");
    v.field("header", header, sim::between(0_B, 256_B), "bytes on the wire beside the payload, per packet");
    v.field("ack", ack, sim::between(0_B, 256_B),
            "bytes that the acknowledgement of one packet takes on the way back");
  }
};

struct SwitchSpec {
  static constexpr std::string_view kAbout =
      "A switch chip: input buffers per virtual channel, cut-through, round robin.";
  sim::Time latency = 150_ns;
  sim::Bytes buffer = 32_KiB;
  int speedup = 0;

  template <class V>
  void visit(V& v) {
    v.field("latency", latency, sim::between(0_ns, 1'000'000_ns),
            "time a packet's head needs through the chip");
    v.field("buffer", buffer, sim::between(512_B, 64_MiB),
            "input buffer of one port and one virtual channel");
    v.field("speedup", speedup, sim::between(0, 2),
            "outputs that one input buffer can feed at the same time; 0: all of them (a non-blocking chip)");
  }
};

struct FabricSpec {
  static constexpr std::string_view kAbout = "The network between the GPUs.";
  Topology topology = Topology::kSwitchPlanes;
  int planes = 1;
  std::vector<int> links_per_plane = {1};
  int links_per_neighbour = 1;
  std::vector<int> dims = {};
  int groups = 1;
  int leaves_per_group = 1;
  int spines = 1;
  std::vector<int> failed_planes = {};
  Interleave interleave = Interleave::kStride;
  sim::Bytes interleave_block = 4_KiB;
  LinkSpec link;
  PacketSpec packet;
  SwitchSpec switch_chip;

  template <class V>
  void visit(V& v) {
    v.field("topology", topology, "how the chips are joined");
    v.field("planes", planes, sim::between(1, 256), "switch-planes: number of switches");
    v.field("links_per_plane", links_per_plane, sim::between(1, 64),
            "switch-planes: links from each GPU to each switch; one number, or a list with one per plane");
    v.field("failed_planes", failed_planes, sim::between(0, 255),
            "switch-planes: switches that are out of order, e.g. [2]; the others carry all");
    v.field("links_per_neighbour", links_per_neighbour, sim::between(1, 64),
            "full-mesh, ring, torus: parallel links between two neighbours");
    v.field("dims", dims, sim::between(2, 1024), "torus: its sides, e.g. [4, 4]");
    v.field("groups", groups, sim::between(1, kMostGpus),
            "fat-tree: groups of GPUs; pcie-tree: PCIe switches below the root");
    v.field("leaves_per_group", leaves_per_group, sim::between(1, 256),
            "fat-tree: leaf switches of a group; each GPU of the group has one link to each");
    v.field("spines", spines, sim::between(1, 4096),
            "fat-tree: second-level switches, a multiple of leaves_per_group");
    v.field("interleave", interleave, "how addresses are spread over parallel links");
    v.field("interleave_block", interleave_block, sim::between(256_B, 1_MiB),
            "contiguous bytes that go over the same link");
    v.group("link", link);
    v.group("packet", packet);
    v.group("switch", switch_chip);
  }
};

}  // namespace infold::net
