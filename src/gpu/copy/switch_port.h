// A GPU's side of in-network collectives: it answers what the switches ask it for, takes in what they send,
// and finishes sums that they could not (inc/fallback_reducer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/copy/move.h"
#include "gpu/gpu_spec.h"
#include "gpu/memory/memory_system.h"
#include "inc/fallback_reducer.h"
#include "inc/switch_units.h"
#include "net/fabric.h"
#include "net/packet/payloads.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

class SwitchClient;

/// A participant of a region on one GPU. Offsets are those of the region; a part is what one rank is home of.
class UnitClient {
 public:
  /// Where a part lies in this GPU's memory: as contribution, and as result. Called once per part.
  virtual Place reads_from(std::uint32_t part) = 0;
  virtual Place writes_to(std::uint32_t part) = 0;
  /// What a part is made of: bytes in memory, a flag that is always in L2, or nothing if ranks only meet.
  enum class Behind : std::uint8_t { kMemory, kFlag, kNothing };
  virtual Behind behind(std::uint32_t part) = 0;
  /// The bytes of a part; the last may be short.
  virtual sim::Bytes part_bytes(std::uint32_t part) = 0;
  /// Whether this GPU sends the part of its own accord, in a task that covers it.
  virtual bool sends(std::uint32_t /*part*/) { return true; }
  /// The client whose requests and contributions these are.
  virtual SwitchClient& pipeline(std::uint32_t part) = 0;
  /// This GPU's contribution to a block was sent because a switch asked for it.
  virtual void replied(std::uint32_t offset, sim::Bytes bytes) = 0;
  /// A finished block is in this GPU's memory.
  virtual void received(std::uint32_t offset, sim::Bytes bytes) = 0;
  /// Functional mode: what this GPU contributes, what it gets, and what is done to a sum before that.
  virtual void produce(std::uint32_t offset, std::span<std::byte> out) = 0;
  virtual void consume(std::uint32_t offset, std::span<const std::byte> values) = 0;

 protected:
  ~UnitClient() = default;
};

class SwitchPort final : public sim::Handler, public inc::FallbackReducer::Client {
 public:
  SwitchPort(net::NodeId gpu, const GpuSpec& spec, sim::EventQueue& events, net::Fabric& fabric,
             MemorySystem& memory, inc::SwitchUnits& units, net::Payloads* payloads);

  /// This GPU is rank `rank` of the region from now on. With `pulls`, sums come to it because it asks for
  /// them.
  void join(inc::RegionId region, int rank, bool pulls, UnitClient& client);
  /// Requires: nothing of the region is under way.
  void leave(inc::RegionId region);

  // From the network.
  sim::Time receive(const net::Packet& packet);
  void expect(const net::Packet& packet);
  void departed(const net::Packet& packet);

  // For pipelines.
  const inc::Region& region(inc::RegionId id) const { return units_.regions()[id]; }
  UnitClient& client(inc::RegionId id) { return *memberships_[id].client; }
  sim::Bytes block_bytes(inc::RegionId id, std::uint32_t offset);
  /// Bytes from there to the end of the part. The last blocks of a short part have none.
  sim::Bytes part_left(inc::RegionId id, std::uint32_t offset);
  /// When bytes of the GPU's contribution, asked for now, are at the port.
  sim::Time read(inc::RegionId id, std::uint32_t offset, std::uint32_t bytes);
  sim::Time write(inc::RegionId id, std::uint32_t offset, std::uint32_t bytes);
  /// Sends a packet of this GPU's rank to the switches. `values`: those of the packet, in functional mode.
  void send(net::PacketKind kind, inc::RegionId id, std::uint32_t offset, std::uint16_t payload,
            std::uint32_t sender, net::ValuesId values = 0);
  /// The same with this GPU's contribution as values.
  void send_own(net::PacketKind kind, inc::RegionId id, std::uint32_t offset, std::uint16_t payload,
                std::uint32_t sender);
  net::Payloads* payloads() { return payloads_; }

  /// From sending a contribution to the arrival of its sum, added up over a sample of the blocks (push).
  struct Latency {
    sim::Time sum;
    std::uint64_t blocks = 0;
  };
  const Latency& latency() const { return latency_; }
  std::uint64_t partials() const { return fallback_.partials; }
  /// The number of sums to be finished on this GPU that are not complete.
  std::size_t unfinished() const { return fallback_.open(); }

 private:
  /// A membership's memory is read and written part by part, in order within a part or nearly.
  struct Membership {
    UnitClient* client = nullptr;
    int rank = 0;
    bool pulls = false;
    std::vector<MemorySystem::Cursor> reads;
    std::vector<MemorySystem::Cursor> writes;
    std::vector<bool> reads_open;
    std::vector<bool> writes_open;
    std::uint32_t sampled = 1;    ///< one block in this many is timed
    std::vector<sim::Time> sent;  ///< by timed block: when it was sent
  };
  static constexpr std::uint32_t kMostSamples = 4096;

  void handle(std::uint32_t reply) override;
  void sum_finished(inc::RegionId region, std::uint32_t offset, std::uint16_t payload,
                    std::span<const std::byte> values) override;
  void take_in(const net::Packet& packet);
  void acknowledge(const net::Packet& packet);
  sim::Time jitter(inc::RegionId id, std::uint32_t offset) const;

  net::NodeId gpu_;
  const GpuSpec& spec_;
  sim::EventQueue& events_;
  net::Fabric& fabric_;
  MemorySystem& memory_;
  inc::SwitchUnits& units_;
  net::Payloads* payloads_;
  inc::FallbackReducer fallback_;
  std::vector<Membership> memberships_;  // by region
  sim::Pool<net::Packet> replies_;       // requests whose data memory is fetching
  Latency latency_;
};

}  // namespace infold::gpu
