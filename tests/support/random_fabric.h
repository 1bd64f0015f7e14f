// Fabrics of every topology from a seed, for tests that try many. Room: net.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <ostream>
#include <string>

#include "net/topology/fabric_spec.h"
#include "sim/random.h"
#include "support/every_value.h"

namespace infold::support {

/// Uniform in min .. max.
inline int pick(sim::Random& random, int min, int max) {
  return min + static_cast<int>(random.below(static_cast<std::uint64_t>(max - min + 1)));
}
template <class T>
T any_of(sim::Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

struct Fabric {
  net::FabricSpec spec;
  int gpus = 0;
};

/// 2 .. 16 GPUs, joined as `topology` says.
inline Fabric random_fabric(net::Topology topology, sim::Random& random) {
  using net::Topology;
  Fabric f;
  net::FabricSpec& s = f.spec;
  s.topology = topology;
  s.links_per_neighbour = pick(random, 1, 3);
  switch (topology) {
    case Topology::kSwitchPlanes:
      f.gpus = pick(random, 2, 16);
      s.planes = pick(random, 1, 4);
      s.links_per_plane.resize(random.below(2) == 0 ? 1u : static_cast<std::size_t>(s.planes));
      for (int& links : s.links_per_plane) links = pick(random, 1, 3);
      break;
    case Topology::kFatTree:
      s.groups = pick(random, 1, 4);
      f.gpus = s.groups * pick(random, s.groups == 1 ? 2 : 1, 4);
      s.leaves_per_group = pick(random, 1, 3);
      s.spines = s.leaves_per_group * pick(random, 1, 3);
      break;
    case Topology::kPcieTree:
      s.groups = pick(random, 1, 4);
      f.gpus = s.groups * pick(random, s.groups == 1 ? 2 : 1, 4);
      break;
    case Topology::kTorus:
      s.dims = any_of<std::vector<int>>(
          random, {{2, 2}, {2, 4}, {3, 3}, {3, 4}, {4, 4}, {5, 3}, {2, 2, 2}, {2, 2, 3}});
      f.gpus = std::accumulate(s.dims.begin(), s.dims.end(), 1, std::multiplies<>());
      break;
    case Topology::kFullMesh:
      f.gpus = pick(random, 2, 9);
      break;
    case Topology::kRing:
      f.gpus = pick(random, 2, 16);
      break;
    case Topology::kCubeMesh:
      f.gpus = 8;
      break;
  }
  s.interleave = any_of(random, {net::Interleave::kStride, net::Interleave::kHash});
  s.interleave_block = any_of(random, {sim::Bytes{272}, sim::Bytes{1024}, sim::Bytes{4096}});
  s.link.rate = any_of(random, {sim::Bandwidth::gb_per_s(3), sim::Bandwidth::gb_per_s(25)});
  s.link.latency = sim::Time::ns(any_of(random, {0, 20, 250}));
  s.packet.payload = any_of(random, {sim::Bytes{48}, sim::Bytes{128}, sim::Bytes{256}});
  s.packet.header = any_of(random, {sim::Bytes{0}, sim::Bytes{16}, sim::Bytes{24}});
  s.packet.ack = any_of(random, {sim::Bytes{0}, sim::Bytes{16}});
  s.switch_chip.latency = sim::Time::ns(any_of(random, {0, 150}));
  s.switch_chip.buffer = any_of(
      random, {sim::Bytes{512}, sim::Bytes{1023}, sim::Bytes{2048}, sim::Bytes{4096}, sim::Bytes{32768}});
  s.switch_chip.speedup = any_of(random, {0, 0, 1, 2});  // every preset has 0
  return f;
}

inline std::vector<net::Topology> every_topology() {
  return every_value<net::Topology>();
}

}  // namespace infold::support
