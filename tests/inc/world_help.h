// What the tests of in-network reduction share: a fabric whose switches have units, and mock GPUs that push
// or pull a vector of values and keep what comes back.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "inc/fallback_reducer.h"
#include "inc/switch_units.h"
#include "inc/waves.h"
#include "net/packet/network.h"
#include "sim/random.h"

namespace infold::inc {

enum class Style { kPush, kPull };

/// GPUs on one switch: 40 ps a byte, 100 ns a cable, 50 ns through the switch.
inline net::FabricSpec one_switch() {
  net::FabricSpec spec;
  spec.link = {.rate = 25_GBps, .latency = 100_ns, .error_distance = {}};
  spec.switch_chip = {.latency = 50_ns, .buffer = 8_KiB, .speedup = 0};
  return spec;
}
/// The machine of Klenk et al., 16 GPUs.
inline net::FabricSpec klenk() {
  net::FabricSpec spec;
  spec.planes = 6;
  spec.link = {.rate = 25_GBps, .latency = 250_ns, .error_distance = {}};
  spec.switch_chip = {.latency = 150_ns, .buffer = 32_KiB, .speedup = 0};
  return spec;
}
inline net::FabricSpec fat_tree(int groups, int leaves, int spines) {
  net::FabricSpec spec = one_switch();
  spec.topology = net::Topology::kFatTree;
  spec.groups = groups;
  spec.leaves_per_group = leaves;
  spec.spines = spines;
  return spec;
}

struct World;

/// One GPU's part in one collective.
struct Member {
  int rank = 0;
  RegionId region = 0;
  std::vector<std::byte> in;
  std::vector<std::byte> out;
  std::vector<int> came;  ///< how often each block came
  std::vector<std::uint32_t> order;
  std::size_t sent = 0;  ///< of `order`
  std::unique_ptr<Waves> waves;
  sim::Time finished;
};

class MockGpu final : public net::Endpoint, public FallbackReducer::Client {
 public:
  MockGpu(World& world, net::NodeId id);
  void send_what_may(Member& m);

  sim::Time receive(const net::Packet& p) override;
  void expect(const net::Packet& p) override { acks += p.packets(); }
  void departed(const net::Packet&) override {}
  void sum_finished(RegionId region, std::uint32_t offset, std::uint16_t payload,
                    std::span<const std::byte> values) override;

  Member& member(RegionId region) {
    for (Member& m : members) {
      if (m.region == region) return m;
    }
    ADD_FAILURE() << "not a member of region " << region;
    return members.front();
  }
  std::deque<Member> members;
  FallbackReducer fallback;
  std::uint64_t acks = 0;
  sim::Time takes{};  ///< so long a result stays in its place of the buffer

 private:
  void keep(Member& m, const net::Packet& p);
  void spread(Member& m, std::uint32_t offset, std::uint16_t payload, std::span<const std::byte> values);
  World& world_;
  net::NodeId id_;
};

class LaterOnce final : public sim::Handler {
 public:
  explicit LaterOnce(std::function<void()> what) : what_(std::move(what)) {}
  void handle(std::uint32_t) override { what_(); }

 private:
  std::function<void()> what_;
};

struct Job {
  Style style = Style::kPush;
  std::vector<net::NodeId> members;
  std::size_t bytes = 0;
  sim::DataType type = sim::DataType::kFp32;
  std::vector<sim::Time> starts;  ///< of each rank; empty: all at 0
  ResultTo result_to = ResultTo::kAll;
  int job = 0;
  bool backwards = false;  ///< the odd ranks send their blocks last first
  std::function<double(int rank, std::size_t element)> value;
};

struct World {
  World(const IncSpec& inc, const net::FabricSpec& fabric, int gpus, bool values = true)
      : spec(inc),
        blueprint(net::draw(fabric, gpus).value()),
        routes(net::Routes::make(blueprint).value()),
        network(events, blueprint, routes, fabric, true, in_network(inc)),
        map(blueprint, routes),
        units(inc, events, map, network, values ? &payloads : nullptr),
        functional(values) {
    for (int g = 0; g < gpus; ++g) {
      gpu.push_back(std::make_unique<MockGpu>(*this, static_cast<net::NodeId>(g)));
      network.attach(static_cast<net::NodeId>(g), *gpu.back());
    }
  }
  TreeGrower grower() const { return {blueprint, routes}; }
  std::size_t block() const { return static_cast<std::size_t>(spec.payload.count()); }

  RegionId start(const Job& job) {
    RegionPlan plan;
    plan.members = job.members;
    plan.bytes = sim::Bytes{static_cast<std::int64_t>(job.bytes)};
    plan.type = job.type;
    plan.result_to = job.result_to;
    plan.job = job.job;
    plan.address = next_address;
    next_address += (job.bytes + 4095) / 4096 * 4096;
    auto added = units.regions().add(plan);
    if (!added) {
      ADD_FAILURE() << added.error().message;
      return 0;
    }
    const RegionId id = *added;
    styles.resize(std::max<std::size_t>(styles.size(), id + 1u));
    styles[id] = job.style;
    const auto width = static_cast<std::size_t>(sim::size_of(job.type).count());
    const std::size_t blocks = (job.bytes + block() - 1) / block();
    for (std::size_t r = 0; r < job.members.size(); ++r) {
      Member m;
      m.rank = static_cast<int>(r);
      m.region = id;
      m.came.assign(blocks, 0);
      if (functional) {
        m.in.resize(job.bytes);
        m.out.resize(job.bytes);
        for (std::size_t e = 0; e < job.bytes / width; ++e)
          store(job.type, m.in, e, job.value ? job.value(m.rank, e) : exact_value(m.rank, e));
      }
      for (std::uint32_t b = 0; b < blocks; ++b) {
        const bool mine = units.regions()[id].home_rank(static_cast<std::uint32_t>(b * block())) == m.rank;
        if (job.style == Style::kPush || mine) m.order.push_back(static_cast<std::uint32_t>(b * block()));
      }
      if (job.backwards && r % 2 == 1) std::reverse(m.order.begin(), m.order.end());
      m.waves = std::make_unique<Waves>(plan.bytes, spec.wave, spec.waves);
      MockGpu& g = *gpu[job.members[r]];
      g.members.push_back(std::move(m));
      Member& placed = g.members.back();
      later.emplace_back([&g, &placed] { g.send_what_may(placed); });
      events.schedule(job.starts.empty() ? sim::Time{} : job.starts[r], sim::Priority::kWork, later.back(),
                      0);
    }
    return id;
  }
  /// Small integers: their sums are exact in every type and order.
  static double exact_value(int rank, std::size_t element) {
    return static_cast<double>((static_cast<std::size_t>(rank) * 7 + element * 3) % 11) - 5;
  }

  /// Everything came once, is right, and nothing is left anywhere.
  void expect_done(const Job& job, RegionId id) {
    const auto width = static_cast<std::size_t>(sim::size_of(job.type).count());
    const Region& region = units.regions()[id];
    for (std::size_t r = 0; r < job.members.size(); ++r) {
      const Member& m = gpu[job.members[r]]->member(id);
      int wrong = 0;
      for (std::size_t b = 0; b < m.came.size(); ++b) {
        const bool wants = job.result_to == ResultTo::kAll ||
                           region.home_rank(static_cast<std::uint32_t>(b * block())) == m.rank;
        ASSERT_EQ(m.came[b], wants ? 1 : 0) << "rank " << r << ", block " << b;
        if (!wants || !functional) continue;
        for (std::size_t e = b * block() / width; e < std::min((b + 1) * block(), job.bytes) / width; ++e) {
          double sum = 0;
          for (std::size_t other = 0; other < job.members.size(); ++other)
            sum += exact_value(static_cast<int>(other), e);
          wrong += load(job.type, m.out, e) == sum ? 0 : 1;
        }
      }
      ASSERT_EQ(wrong, 0) << "rank " << r;
    }
  }
  void expect_quiet() {
    EXPECT_TRUE(units.drained());
    EXPECT_TRUE(network.quiet());
    EXPECT_EQ(payloads.taken(), 0u);
    for (const auto& text : units.who_waits()) ADD_FAILURE() << text;
    for (const auto& text : network.who_waits()) ADD_FAILURE() << text;
    for (const auto& g : gpu) EXPECT_EQ(g->fallback.open(), 0u);
  }
  sim::Time finished() const {
    sim::Time end;
    for (const auto& g : gpu) {
      for (const Member& m : g->members) end = sim::max(end, m.finished);
    }
    return end;
  }
  std::uint64_t partials() const {
    std::uint64_t sum = 0;
    for (const auto& g : gpu) sum += g->fallback.partials;
    return sum;
  }

  IncSpec spec;
  sim::EventQueue events;
  net::Blueprint blueprint;
  net::Routes routes;
  net::Network network;
  net::Payloads payloads;
  net::FabricMap map;
  SwitchUnits units;
  bool functional;
  std::vector<Style> styles;
  std::vector<std::unique_ptr<MockGpu>> gpu;
  std::deque<LaterOnce> later;
  std::uint64_t next_address = 0;
};

inline MockGpu::MockGpu(World& world, net::NodeId id)
    : fallback(id, 0, world.spec, world.events, world.network, world.units.regions(),
               world.functional ? &world.payloads : nullptr, *this),
      world_(world),
      id_(id) {}

inline void MockGpu::send_what_may(Member& m) {
  const std::int64_t may =
      world_.styles[m.region] == Style::kPull ? std::int64_t{1} << 40 : m.waves->may_send().count();
  const bool by_waves = world_.spec.wave > sim::Bytes{};
  for (; m.sent < m.order.size() && (!by_waves || m.order[m.sent] < may); ++m.sent) {
    const std::uint32_t offset = m.order[m.sent];
    net::Packet p;
    p.set_flow(Tag{m.region, static_cast<std::uint16_t>(m.rank), 1}.flow());
    p.set_offset(offset);
    p.set_source(id_);
    p.set_spread(world_.units.regions().way(m.region, offset));
    if (world_.styles[m.region] == Style::kPull) {
      p.set_kind(net::PacketKind::kLoadReduce);
    } else {
      p.set_kind(net::PacketKind::kReduceWrite);
      const auto bytes = static_cast<std::size_t>(world_.units.regions()[m.region].plan.bytes.count());
      p.set_payload(static_cast<std::uint16_t>(std::min(world_.block(), bytes - offset)));
      if (world_.functional) {
        p.set_values(world_.payloads.take(p.payload()));
        std::copy_n(m.in.begin() + offset, p.payload(), world_.payloads[p.values()].begin());
      }
    }
    world_.network.send_to_unit(p, 0);
  }
}

inline void MockGpu::keep(Member& m, const net::Packet& p) {
  ++m.came[p.offset() / world_.block()];
  if (world_.functional)
    std::copy_n(world_.payloads[p.values()].begin(), p.payload(), m.out.begin() + p.offset());
  m.waves->result(p.offset(), sim::Bytes{p.payload()});
  m.finished = world_.events.now();
  if (world_.styles[m.region] == Style::kPush) send_what_may(m);
}

inline void MockGpu::spread(Member& m, std::uint32_t offset, std::uint16_t payload,
                            std::span<const std::byte> values) {
  net::Packet p;
  p.set_kind(net::PacketKind::kMulticastWrite);
  p.set_flow(Tag{m.region, static_cast<std::uint16_t>(m.rank), 1}.flow());
  p.set_offset(offset);
  p.set_payload(payload);
  p.set_source(id_);
  p.set_spread(world_.units.regions().way(m.region, offset));
  if (world_.functional) {
    p.set_values(world_.payloads.take(values.size()));
    std::copy(values.begin(), values.end(), world_.payloads[p.values()].begin());
  }
  world_.network.send_to_unit(p, 1);
}

inline sim::Time MockGpu::receive(const net::Packet& p) {
  const sim::Time now = world_.events.now();
  Member& m = member(Tag::of(p.flow()).region);
  const bool push = world_.styles[m.region] == Style::kPush;
  switch (p.kind()) {
    case net::PacketKind::kPartial:
      fallback.receive(p);
      return now;
    case net::PacketKind::kLoadReduce: {
      net::Packet r = p;
      r.set_kind(net::PacketKind::kReply);
      r.set_flow(Tag{m.region, static_cast<std::uint16_t>(m.rank), 1}.flow());
      r.set_source(id_);
      const auto bytes = static_cast<std::size_t>(world_.units.regions()[m.region].plan.bytes.count());
      r.set_payload(static_cast<std::uint16_t>(std::min(world_.block(), bytes - p.offset())));
      if (world_.functional) {
        r.set_values(world_.payloads.take(r.payload()));
        std::copy_n(m.in.begin() + p.offset(), r.payload(), world_.payloads[r.values()].begin());
      }
      world_.network.send_to_unit(r, 2);
      return now;
    }
    case net::PacketKind::kResult:
      if (!push) {
        std::vector<std::byte> values;
        if (world_.functional) {
          const auto there = world_.payloads[p.values()];
          values.assign(there.begin(), there.end());
          world_.payloads.give_back(p.values());
        }
        spread(m, p.offset(), p.payload(), values);
        return now;
      }
      [[fallthrough]];
    case net::PacketKind::kMulticastWrite: {
      net::Packet ack = net::Packet::unit_ack(p);
      ack.set_source(id_);
      world_.network.send_to_unit(ack, 3);
      keep(m, p);
      if (world_.functional) world_.payloads.give_back(p.values());
      return now + takes;
    }
    default:
      ADD_FAILURE() << "unexpected kind";
  }
  return now;
}

inline void MockGpu::sum_finished(RegionId region, std::uint32_t offset, std::uint16_t payload,
                                  std::span<const std::byte> values) {
  Member& m = member(region);
  if (world_.units.regions()[region].plan.result_to == ResultTo::kAll)
    return spread(m, offset, payload, values);
  ++m.came[offset / world_.block()];
  if (world_.functional) std::copy(values.begin(), values.end(), m.out.begin() + offset);
}

inline std::vector<net::NodeId> first_gpus(int n) {
  std::vector<net::NodeId> members(static_cast<std::size_t>(n));
  std::iota(members.begin(), members.end(), net::NodeId{0});
  return members;
}

}  // namespace infold::inc
