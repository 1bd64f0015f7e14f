// A workgroup's data path between mocks: whoever asked for the move on one side, the fabric's ends on the
// other.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "gpu/copy/copy_pipeline.h"
#include "net/packet/network.h"
#include "net/topology/blueprint.h"

namespace infold::gpu {

using namespace sim::literals;

/// Notes what it is told about its moves. In functional mode byte i of a move has the value i mod 251.
class Client final : public MoveClient {
 public:
  struct Told {
    char what;  // 'i'ssued, 'c'omplete
    std::uint32_t cookie;
    sim::Time at;
  };
  explicit Client(sim::EventQueue& events) : events_(events) {}

  void move_issued(std::uint32_t cookie) override {
    told.push_back({'i', cookie, events_.now()});
    if (on_issued) on_issued(cookie);
  }
  void move_complete(std::uint32_t cookie) override { told.push_back({'c', cookie, events_.now()}); }
  void produce(std::uint32_t, std::uint32_t offset, std::span<std::byte> out) override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value_at(offset + i);
    produced += out.size();
  }
  void consume(std::uint32_t, std::uint32_t offset, std::span<const std::byte> values) override {
    if (consumed.size() < offset + values.size()) consumed.resize(offset + values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      wrong += values[i] == value_at(offset + i) ? 0u : 1u;
      ++consumed[offset + i];
    }
  }
  static std::byte value_at(std::size_t i) { return static_cast<std::byte>(i % 251); }

  std::string order() const {
    std::string s;
    for (const Told& t : told) s += t.what + std::to_string(t.cookie);
    return s;
  }
  sim::Time when(char what, std::uint32_t cookie) const {
    for (const Told& t : told) {
      if (t.what == what && t.cookie == cookie) return t.at;
    }
    ADD_FAILURE() << "never told " << what << cookie;
    return {};
  }

  std::vector<Told> told;
  std::function<void(std::uint32_t)> on_issued;
  std::size_t produced = 0;
  std::vector<int> consumed;  ///< how often each byte arrived
  std::size_t wrong = 0;

 private:
  sim::EventQueue& events_;
};

/// A pipeline on GPU 0 that may send to GPU 1 on the other side of one switch.
class CopyPipelineScene {
 public:
  struct Settings {
    sim::Bytes window = 32_KiB;
    sim::Bytes outstanding = 1_MiB;
    sim::Bytes burst;
    sim::Bandwidth port = 90_GBps;
    GpuSpec gpu = {};
    net::FabricSpec fabric = {};
    bool functional = false;
  };
  explicit CopyPipelineScene(const Settings& s)
      : blueprint(net::draw(s.fabric, 2).value()),
        routes(net::Routes::make(blueprint).value()),
        network(events, blueprint, routes, s.fabric, s.burst == sim::Bytes{}),
        memory(s.gpu, Contention{}),
        near(*this),
        far(*this),
        client(events),
        pipeline({.gpu = 0,
                  .sender = 0,
                  .window = s.window,
                  .outstanding = s.outstanding,
                  .burst = s.burst,
                  .port = s.port},
                 events, memory, network, moves, s.functional ? &payloads : nullptr) {
    network.attach(0, near);
    network.attach(1, far);
  }

  Move move(sim::Bytes bytes, int to = 1) {
    Move m;
    m.bytes = bytes;
    m.to = to;
    m.client = &client;
    for (std::size_t i = 0; i < m.sources.size(); ++i) m.sources[i].buffer = 1'000'000 * (i + 1);
    return m;
  }

  std::uint64_t read_bytes() const { return memory.traffic().total().l2_read; }
  std::uint64_t written_bytes() const { return memory.traffic().total().l2_written; }

  /// GPU 0's ports: what leaves and what is acknowledged goes to the pipeline.
  struct Near final : net::Endpoint {
    explicit Near(CopyPipelineScene& s) : scene(s) {}
    sim::Time receive(const net::Packet&) override { return scene.events.now(); }
    void expect(const net::Packet& p) override {
      acknowledged += p.acknowledged();
      if (scene.moves[p.flow()].acknowledge(sim::Bytes{p.acknowledged()}, p.arrives))
        scene.pipeline.settled(p.flow());
    }
    void departed(const net::Packet& p) override {
      departed_bytes += p.payload();
      scene.pipeline.departed(sim::Bytes{p.payload()});
    }
    CopyPipelineScene& scene;
    std::uint64_t departed_bytes = 0;
    std::uint64_t acknowledged = 0;
  };
  /// GPU 1's: keeps what arrives, and acknowledges it.
  struct Far final : net::Endpoint {
    explicit Far(CopyPipelineScene& s) : scene(s) {}
    sim::Time receive(const net::Packet& p) override {
      packets.push_back(p);
      if (scene.payloads.taken() > 0) {
        scene.client.consume(0, p.offset(), scene.payloads[p.values()]);
        scene.payloads.give_back(p.values());
      }
      scene.network.send(net::Packet::ack(p, scene.events.now()), 0);
      return scene.events.now();
    }
    void expect(const net::Packet&) override {}
    void departed(const net::Packet&) override {}
    CopyPipelineScene& scene;
    std::vector<net::Packet> packets;
  };

  sim::EventQueue events;
  net::Blueprint blueprint;
  net::Routes routes;
  net::Network network;
  MemorySystem memory;
  net::Payloads payloads;
  MoveTable moves;
  Near near;
  Far far;
  Client client;
  CopyPipeline pipeline;
};

}  // namespace infold::gpu
