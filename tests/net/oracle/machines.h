// Random machines for the two networks that are compared: fabrics of every topology whose links and chips
// are all alike or all different, with units in their switches or without.
#pragma once

#include <algorithm>
#include <utility>

#include "net/fabric_help.h"
#include "net/packet/network.h"
#include "support/random_fabric.h"

namespace infold::net::oracle {

enum class Errors { kNone, kSome };
enum class Links { kAlike, kMixed };
enum class Units { kNone, kEverySwitch };

struct Machine {
  FabricSpec spec;
  Blueprint blueprint;
  InNetwork in_network;
  std::int64_t most = 0;       ///< bytes of payload that fit as one, and do not make a load take long
  std::int64_t unit_most = 0;  ///< the same of what units act on, packets in bursts
};

/// On these a packet takes some time from chip to chip, and some on a wire: what takes none happens in one
/// picosecond, in no order that anything says.
class MachineDrawer {
 public:
  MachineDrawer(Topology topology, std::uint64_t seed, Links links, Units units, Errors errors)
      : random_(sim::mix(seed * 31 + static_cast<std::uint64_t>(topology))),
        topology_(topology),
        links_(links),
        units_(units),
        errors_(errors) {}

  Machine draw() {
    Machine m;
    support::Fabric fabric = support::random_fabric(topology_, random_);
    m.spec = fabric.spec;
    m.blueprint = drawn(m.spec, fabric.gpus);
    Blueprint& b = m.blueprint;
    const sim::Bytes payload = m.spec.packet.payload;
    if (units_ == Units::kEverySwitch) m.in_network = units();
    b.link_types.clear();
    for (int types = links_ == Links::kMixed ? support::pick(random_, 2, 4) : 1; types > 0; --types)
      b.link_types.push_back(link_type(payload));
    for (Cable& c : b.cables) c.type = static_cast<LinkTypeId>(random_.below(b.link_types.size()));
    sim::Bytes largest;
    for (const LinkType& type : b.link_types) {
      largest = sim::max(largest, WireCost(type.packet).largest_packet());
      largest = sim::max(largest, m.in_network.payload + type.packet.header);
    }
    b.chip_types.clear();
    const int chips = links_ == Links::kMixed ? 3 : 1;
    for (int i = 0; i < 2 * chips; ++i) b.chip_types.push_back(chip_type(largest, i >= chips));
    if (links_ == Links::kAlike) b.chip_types[1] = like(b.chip_types[0]);
    for (int node = 0; node < b.nodes(); ++node) {
      b.chip[static_cast<std::size_t>(node)] =
          static_cast<ChipTypeId>(random_.below(static_cast<std::uint64_t>(chips)) +
                                  static_cast<unsigned>(b.is_gpu(node) ? chips : 0));
    }
    sim::EventQueue events;
    const Routes routes = routes_of(b);
    const sim::Bytes fits = Network(events, b, routes, m.spec, true).traits().max_burst;
    m.most = sim::min(fits, payload * 24).count();
    if (units_ == Units::kEverySwitch) {
      const std::int64_t packet = (m.in_network.payload + largest_header(b)).count();
      const std::int64_t packets = std::clamp<std::int64_t>(smallest_buffer(b).count() / 4 / packet, 1, 8);
      m.unit_most = packets * m.in_network.payload.count();
    }
    return m;
  }

 private:
  InNetwork units() {
    InNetwork in;
    in.units = true;
    in.payload = support::any_of(random_, {sim::Bytes{32}, sim::Bytes{64}, sim::Bytes{128}});
    in.request = support::any_of(random_, {sim::Bytes{16}, sim::Bytes{20}, sim::Bytes{32}});
    in.latency = sim::Time::ps(support::any_of(random_, {1, 12'345, 40'000, 150'000}));
    return in;
  }
  LinkType link_type(sim::Bytes payload) {
    LinkType type;
    type.rate = support::any_of(random_, {sim::Bandwidth::gb_per_s(3), sim::Bandwidth::gb_per_s(25),
                                          sim::Bandwidth::bytes_per_s(53'333'333'333)});
    type.latency = sim::Time::ps(support::any_of(random_, {1, 20'000, 33'333, 250'000}));
    if (errors_ == Errors::kSome && (links_ == Links::kAlike || random_.below(2) == 0))
      type.error_distance = sim::Bytes{support::pick(random_, 300, 20'000)};
    type.packet.payload = payload;
    type.packet.header =
        support::any_of(random_, {sim::Bytes{0}, sim::Bytes{16}, sim::Bytes{24}, sim::Bytes{48}});
    type.packet.ack = support::any_of(random_, {sim::Bytes{16}, sim::Bytes{20}});
    return type;
  }
  ChipType chip_type(sim::Bytes largest, bool gpu) {
    ChipType chip;
    chip.latency = sim::Time::ns(gpu ? 0 : support::any_of(random_, {0, 40, 150}));
    chip.buffer = random_.below(2) == 0
                      ? largest * support::pick(random_, 1, 9)
                      : support::any_of(random_, {sim::Bytes{512}, sim::Bytes{1023}, sim::Bytes{2048},
                                                  sim::Bytes{4096}, sim::Bytes{32768}});
    chip.buffer = sim::max(chip.buffer, sim::max(largest, sim::Bytes{512}));
    chip.speedup = support::any_of(random_, {0, 0, 0, 1, 2});
    return chip;
  }
  /// A GPU's ports where all chips are alike.
  static ChipType like(ChipType chip) {
    chip.latency = {};
    return chip;
  }

  sim::Random random_;
  Topology topology_;
  Links links_;
  Units units_;
  Errors errors_;
};

}  // namespace infold::net::oracle
