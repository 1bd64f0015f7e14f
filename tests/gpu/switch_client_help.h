// A GPU's side of in-network collectives without switches: a fabric that the test plays by hand, and a client
// that notes what comes in.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "gpu/copy/switch_client.h"
#include "support/fake_fabric.h"

namespace infold::gpu {

using namespace sim::literals;

/// GPU 0 of four below one switch; it is rank 0 of a region. Blocks have 128 bytes.
class SwitchClientScene final : public UnitClient, public SwitchClient::Client {
 public:
  static constexpr int kGpus = 4;
  static constexpr std::uint32_t kBlock = 128;
  static constexpr std::uint32_t kSender = 3;
  static constexpr std::uint64_t kBuffer = 1'000'000;

  struct Settings {
    sim::Bytes region = 8_KiB;
    bool pulls = false;
    sim::Bytes window = 64_KiB;
    sim::Bytes run{};
    LoadBudget* loads = nullptr;
    sim::Time reply_jitter{};
    net::NodeId gpu = 0;
  };
  explicit SwitchClientScene(const Settings& s)
      : fabric({.gpus = kGpus}),
        spec(gpu_spec(s)),
        memory(spec, Contention{}),
        port(s.gpu, spec, events, fabric, memory, units, nullptr),
        client({.sender = kSender, .window = s.window, .run = s.run, .rate = 1000_GBps, .loads = s.loads},
               events, port, *this) {
    inc::RegionPlan plan;
    for (net::NodeId g = 0; g < kGpus; ++g) plan.members.push_back(g);
    plan.bytes = s.region;
    region = units.regions().add(plan).value();
    port.join(region, s.gpu, s.pulls, *this);
  }

  void start(UnitOp op, std::uint32_t begin, std::uint32_t end) {
    UnitTask task;
    task.op = op;
    task.region = region;
    task.begin = begin;
    task.end = end;
    client.start(task);
    events.run();
  }
  /// The i-th packet that was sent leaves.
  void depart(std::size_t i) {
    port.departed(fabric.sent[i].packet);
    events.run();
  }
  /// The switch's acknowledgement of the i-th packet is on its last link, and will be here at `at`.
  void acknowledge(std::size_t i, sim::Time at) {
    net::Packet ack = fabric.sent[i].packet;
    ack.set_kind(net::PacketKind::kUnitAck);
    ack.set_payload(0);
    ack.arrives = at;
    port.expect(ack);
  }
  /// The switch sends what the i-th packet asked for.
  void answer(std::size_t i) {
    net::Packet sum = fabric.sent[i].packet;
    sum.set_kind(net::PacketKind::kResult);
    sum.set_payload(static_cast<std::uint16_t>(port.block_bytes(region, sum.offset()).count()));
    port.receive(sum);
    events.run();
  }
  /// The switch asks for this GPU's contribution.
  void ask(std::uint32_t offset) {
    net::Packet request;
    request.set_kind(net::PacketKind::kLoadReduce);
    request.set_flow(inc::Tag{region, 1, 1}.flow());
    request.set_offset(offset);
    port.receive(request);
  }
  std::vector<std::uint32_t> offsets() const {
    std::vector<std::uint32_t> out;
    for (const auto& s : fabric.sent) out.push_back(s.packet.offset());
    return out;
  }
  std::uint64_t written() const { return memory.traffic().total().l2_written; }

  sim::EventQueue events;
  support::FakeFabric fabric;
  GpuSpec spec;
  MemorySystem memory;
  inc::IncSpec inc_spec;
  net::Blueprint blueprint = net::draw(net::FabricSpec{}, kGpus).value();
  net::Routes routes = net::Routes::make(blueprint).value();
  net::FabricMap map{blueprint, routes};
  inc::SwitchUnits units{inc_spec, events, map, fabric, nullptr};
  SwitchPort port;
  SwitchClient client;
  inc::RegionId region = 0;

  std::string told;  ///< 'i'ssued, 'c'omplete
  sim::Time told_at;
  std::uint64_t got = 0;       ///< bytes of finished blocks
  std::uint64_t replied_ = 0;  ///< bytes that were asked for

 private:
  static GpuSpec gpu_spec(const Settings& s) {
    GpuSpec g;
    g.clock = 1000_MHz;
    g.l2 = {.capacity = 4_MiB, .copies = 1, .slices = 100, .slice_port = 1000_B, .latency = 100_ns};
    g.hbm.access = 200_ns;
    g.engine.reply_jitter = s.reply_jitter;
    return g;
  }
  // UnitClient
  Place reads_from(std::uint32_t part) override { return {kBuffer, at(part)}; }
  Place writes_to(std::uint32_t part) override { return {2 * kBuffer, at(part)}; }
  Behind behind(std::uint32_t) override { return Behind::kMemory; }
  sim::Bytes part_bytes(std::uint32_t part) override {
    const inc::Region& r = units.regions()[region];
    return sim::min(sim::Bytes{r.part()}, r.plan.bytes - sim::Bytes{static_cast<std::int64_t>(at(part))});
  }
  SwitchClient& pipeline(std::uint32_t) override { return client; }
  void replied(std::uint32_t, sim::Bytes bytes) override {
    replied_ += static_cast<std::uint64_t>(bytes.count());
  }
  void received(std::uint32_t, sim::Bytes bytes) override {
    got += static_cast<std::uint64_t>(bytes.count());
  }
  void produce(std::uint32_t, std::span<std::byte>) override {}
  void consume(std::uint32_t, std::span<const std::byte>) override {}
  std::uint64_t at(std::uint32_t part) const { return std::uint64_t{part} * units.regions()[region].part(); }
  // SwitchClient::Client
  void task_issued() override { note('i'); }
  void task_complete() override { note('c'); }
  void note(char what) {
    told += what;
    told_at = events.now();
  }
};

}  // namespace infold::gpu
