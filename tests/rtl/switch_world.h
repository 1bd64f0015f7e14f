// The simulator's unit of one switch, driven by hand, and what the hardware of one of its ports has to be
// told with each packet: the row of the multicast table that the switch looks up.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "dut.h"
#include "inc/policy_levels.h"
#include "inc/switch_units.h"
#include "net/packet/payloads.h"
#include "sim/random.h"
#include "support/fake_fabric.h"

namespace infold::rtl {

/// Where the switch stands: alone, between GPUs and another switch, or above other switches.
enum class Place { kAlone, kLeaf, kRoot };

struct WorldShape {
  Place place = Place::kAlone;
  int gpus = 8;
  inc::IncSpec spec;
};

class SwitchWorld {
 public:
  explicit SwitchWorld(const WorldShape& shape)
      : spec(shape.spec),
        blueprint(net::draw(fabric_of(shape), shape.gpus).value()),
        fabric({.gpus = shape.gpus}),
        units(spec, events, map, fabric, &payloads) {
    const net::NodeId leaf = map.to(map.outlets(0).front().link);
    chip = leaf;
    if (shape.place == Place::kRoot) {
      for (const auto& o : map.outlets(leaf))
        if (map.to(o.link) >= map.gpus()) chip = map.to(o.link);
    }
    std::uint32_t port = 0;
    for (const auto& o : map.outlets(chip)) port_of_link_[o.link] = port++;
    ports = port;
    acts = &fabric.unit(chip);
    unit = static_cast<inc::ReductionUnit*>(acts);
  }
  inc::RegionId add_region(sim::DataType type, sim::Bytes block, inc::ResultTo to) {
    inc::RegionPlan plan;
    for (int g = 0; g < map.gpus(); ++g) plan.members.push_back(static_cast<net::NodeId>(g));
    plan.bytes = sim::Bytes{std::int64_t{1} << 30};
    plan.address = 0;
    plan.type = type;
    plan.block = block;
    plan.part = block;
    plan.result_to = to;
    plan.number = next_number_++;
    return units.regions().add(plan).value();
  }
  const inc::Region& region(inc::RegionId id) const { return units.regions()[id]; }
  const inc::TreeNode& node(inc::RegionId id, std::uint32_t offset) const {
    return region(id).tree(units.regions().way(id, offset)).at(chip);
  }
  std::uint32_t port_of(net::LinkId out) const { return port_of_link_.at(out); }
  std::uint32_t port_to(net::NodeId gpu, std::uint16_t way) const {
    return port_of(map.next(chip, gpu, way));
  }
  /// The port whose table a block that is pushed belongs to, as ReductionUnit chooses it.
  std::uint32_t home_port(inc::RegionId id, std::uint32_t offset) const {
    const std::uint64_t block = offset / region(id).block();
    return static_cast<std::uint32_t>((block + sim::mix(block / ports + (region(id).seed() << 40))) % ports);
  }
  /// The port whose table a block that is asked for belongs to.
  std::uint32_t pull_port(inc::RegionId id, std::uint32_t offset) const {
    return port_to(region(id).home(offset), units.regions().way(id, offset));
  }

  /// A packet that arrives over `in`.
  net::Packet packet(net::PacketKind kind, inc::RegionId id, std::uint32_t offset, std::uint16_t first,
                     std::uint16_t count, const std::vector<std::byte>& values, net::LinkId in) {
    net::Packet p(kind);
    p.set_flow(inc::Tag{id, first, count}.flow());
    p.set_offset(offset);
    p.set_payload(static_cast<std::uint16_t>(values.size()));
    p.set_spread(units.regions().way(id, offset));
    if (map.from(in) < map.gpus()) p.set_source(map.from(in));
    p.set_destination(chip);
    if (!values.empty()) {
      p.set_values(payloads.take(values.size()));
      std::copy(values.begin(), values.end(), payloads[p.values()].begin());
    }
    return p;
  }
  /// The header that the hardware gets for it.
  Header header(const net::Packet& p, net::LinkId in) const {
    const inc::Tag tag = inc::Tag::of(p.flow());
    const inc::Region& r = region(tag.region);
    const inc::TreeNode& n = node(tag.region, p.offset());
    const net::NodeId home = r.home(p.offset());
    const net::LinkId to_home = map.next(chip, home, p.spread());
    Header h;
    h.region = tag.region;
    h.offset = p.offset();
    h.first = tag.first;
    h.count = tag.count;
    h.bytes = p.payload();
    h.from = port_of(net::FabricMap::back(in));
    h.from_gpu = map.from(in) < map.gpus();
    h.bf16 = r.plan.type == sim::DataType::kBf16;
    h.sums = inc::sums_pushes(spec.levels, n);
    h.home = port_of(to_home);
    h.home_here = map.to(to_home) < map.gpus();
    const std::uint64_t up = n.parent == net::kNoLink ? 0 : std::uint64_t{1} << port_of(n.parent);
    std::uint64_t below = 0, onward = 0;
    for (const auto& c : n.children) {
      below |= std::uint64_t{1} << port_of(c.out);
      if (c.node < map.gpus() || c.node != map.from(in)) onward |= std::uint64_t{1} << port_of(c.out);
    }
    if (n.child(map.from(in)) != n.children.size()) onward |= up;
    switch (p.kind()) {
      case net::PacketKind::kReduceWrite:
        h.kind = Kind::kReduceWrite;
        h.expected = n.members;
        h.result_kind = h.sums && up != 0 ? Kind::kReduceWrite : Kind::kResult;
        h.targets = up != 0                                   ? up
                    : r.plan.result_to == inc::ResultTo::kAll ? below
                                                              : std::uint64_t{1} << h.home;
        break;
      case net::PacketKind::kLoadReduce: {
        h.kind = Kind::kLoadReduce;
        h.targets = onward;
        const bool first_switch = h.from_gpu;
        const std::size_t child = n.child(map.from(in));
        h.open = first_switch ? Open::kAlways
                              : static_cast<Open>(inc::sums_replies_further_in(spec.levels, spec.order));
        h.expected =
            static_cast<std::uint32_t>(first_switch                ? r.members()
                                       : child < n.children.size() ? r.members() - n.children[child].members
                                                                   : n.members);
        h.result_kind = map.to(to_home) == home ? Kind::kResult : Kind::kReply;
        break;
      }
      case net::PacketKind::kReply:
        h.kind = Kind::kReply;
        break;
      case net::PacketKind::kMulticastWrite:
        h.kind = Kind::kMulticast;
        h.targets = onward;
        break;
      default:
        h.kind = Kind::kResult;
        h.targets = below;
    }
    return h;
  }

  /// What the simulator's unit has sent and the hardware has not yet: by port, kind, block, ranks and bytes.
  using Name = std::tuple<std::uint32_t, Kind, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Name, std::vector<net::Packet>> expected;
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> acks;  ///< by port and block
  std::size_t outstanding = 0;

  /// Sorts what the unit has sent since the last call. `gathered`: acknowledgements of multicasts, which the
  /// hardware does not gather, are left out.
  void collect(bool gathered = false) {
    for (const auto& s : fabric.from_units) {
      const net::Packet& p = s.packet;
      const inc::Tag tag = inc::Tag::of(p.flow());
      const std::uint64_t key = inc::key_of(p);
      if (p.kind() == net::PacketKind::kReminder) continue;
      const std::uint32_t port =
          s.out != net::kNoLink ? port_of(s.out) : port_to(p.destination(), p.spread());
      if (p.kind() == net::PacketKind::kUnitAck) {
        if (!gathered) ++acks[{port, key}];
        continue;
      }
      expected[{port, kind_of(p.kind()), key, tag.first, tag.count, p.payload()}].push_back(p);
      ++outstanding;
    }
    fabric.from_units.clear();
  }
  static Kind kind_of(net::PacketKind k) {
    switch (k) {
      case net::PacketKind::kReduceWrite:
        return Kind::kReduceWrite;
      case net::PacketKind::kLoadReduce:
        return Kind::kLoadReduce;
      case net::PacketKind::kReply:
        return Kind::kReply;
      case net::PacketKind::kMulticastWrite:
        return Kind::kMulticast;
      case net::PacketKind::kPartial:
        return Kind::kPartial;
      default:
        return Kind::kResult;
    }
  }

  inc::IncSpec spec;
  sim::EventQueue events;
  net::Blueprint blueprint;
  net::Routes routes = net::Routes::make(blueprint).value();
  net::FabricMap map{blueprint, routes};
  net::Payloads payloads;
  support::FakeFabric fabric;
  inc::SwitchUnits units;
  net::SwitchUnit* acts = nullptr;     ///< the unit as the network sees it
  inc::ReductionUnit* unit = nullptr;  ///< the same, with what it counts
  net::NodeId chip = 0;
  std::uint32_t ports = 0;

 private:
  static net::FabricSpec fabric_of(const WorldShape& shape) {
    net::FabricSpec f;
    if (shape.place != Place::kAlone) {
      f.topology = net::Topology::kFatTree;
      f.groups = 2;
      f.leaves_per_group = 1;
      f.spines = 1;
    }
    return f;
  }
  std::map<net::LinkId, std::uint32_t> port_of_link_;
  int next_number_ = 0;
};

}  // namespace infold::rtl
