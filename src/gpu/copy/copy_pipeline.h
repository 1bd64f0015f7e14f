// The data path of a communication workgroup: it loads the units of a move, and sends each on as it arrives.
// Its speed is not a number but a consequence of its bytes in flight and the memory latency, of the SM's
// port, of the memory, and of its turn at the links, because a store holds its registers until the link has
// taken it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/copy/data_path.h"
#include "gpu/copy/move.h"
#include "gpu/memory/memory_system.h"
#include "net/fabric.h"
#include "net/packet/payloads.h"
#include "sim/event_queue.h"
#include "sim/ring_buffer.h"

namespace infold::gpu {

class alignas(64) CopyPipeline final : public DataPath, public sim::Handler {
 public:
  /// The times from which data can pass the port: loads from memory, and data that are polled for.
  struct Port {
    sim::Time load_free;
    sim::Time poll_free;
  };
  struct Setup {
    net::NodeId gpu = 0;
    net::NodeId first = 0;     ///< the GPU that the fabric calls 0: of a node, its first
    std::uint32_t sender = 0;  ///< which of the GPU's senders it is: senders take turns at the links
    sim::Bytes window;         ///< most bytes that are loaded and have not left for the wire
    sim::Bytes outstanding = sim::Bytes::gib(1024);  ///< most bytes of loads that are on their way to it
    sim::Bytes burst;                                ///< 0 means packet by packet
    sim::Bandwidth port;                             ///< the rate of the SM's port, each way
    sim::Time poll{};             ///< time from data being there until a polling warp has them
    sim::Bandwidth adders{};      ///< data that are received on chip pass these to be added
    sim::Bytes payload{};         ///< the payload of a packet; 0 means that of the fabric
    sim::Time latency{};          ///< of its loads, beyond that of memory
    Port* shared_port = nullptr;  ///< if null, the port is its own
  };
  CopyPipeline(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, net::Fabric& fabric,
               MoveTable& moves, net::Payloads* payloads);

  void start(const Move& move, std::span<const Move> copies) override;
  void start(const Move& move) { start(move, {}); }
  bool idle() const { return !busy_; }
  std::uint32_t sender() const override { return sender_; }
  void available(sim::Bytes data) override;
  sim::Time polled() const override { return polled_; }
  /// Bytes it stored have left for the wire: there is room for more loads.
  void departed(sim::Bytes bytes);
  /// A move is settled: everything it stored is visible, or will be when the last acknowledgement is here.
  void settled(MoveId id);

 private:
  /// A unit of the current move.
  struct Unit {
    sim::Time ready;  // when its loads are there
    std::uint32_t offset;
    std::uint32_t bytes;
  };
  /// Where units are stored to, if not here alone.
  struct Target {
    MoveId move = 0;
    int to = Move::kNowhere;
    std::uint64_t address = 0;
    Encoding encoding;
  };
  /// What a unit of that much data takes.
  struct Shape {
    sim::Bytes data;
    sim::Bytes stores;       // bytes of the window
    sim::Bytes loads;        // bytes from memory, over all sources
    sim::Time first_access;  // time of its first access at the SM's port
    sim::Time all_loads;     // time of all its loads at the SM's port
  };
  /// Bursts are cut so that at least this many make up a move: larger ones would distort the workgroups'
  /// turns at the links.
  static constexpr std::int64_t kGrain = 32;

  /// Events: the first unit is there, or a move is complete (its id follows).
  static constexpr std::uint32_t kLoaded = 0;
  static constexpr std::uint32_t kComplete = 1;

  void handle(std::uint32_t event) override;
  /// Whether the next unit must wait for others of this pipeline to leave.
  bool window_is_full() const {
    const bool whole = unit_.data <= to_block_end_ && unit_.data <= to_load_ - loaded_;
    return whole && in_flight_ > sim::Bytes{} && in_flight_ + unit_.stores > window_;
  }
  Shape shape_of(sim::Bytes data) const;
  Target target_of(MoveId id) const;
  void load_more();
  void see_landed();
  void await_first();
  sim::Bytes even_unit(sim::Bytes unit) const;
  void look_up_block();
  void open_cursors(const Move& move);
  void store(const Unit& unit);
  sim::Bytes send(const Target& target, const Unit& unit, net::ValuesId values);
  sim::Bytes keep(const Target& target, const Unit& unit, net::ValuesId values);
  void issued();
  void finish(MoveId id);

  // There are hundreds of pipelines, so everything that a unit touches is in a few cache lines ...
  sim::RingBuffer<Unit> loading_;  // in order of arrival; the first has its event pending
  std::uint32_t seen_ = 0;         // how many of these, from the first on, have their received data
  bool busy_ = false;
  bool stores_here_ = false;  // the current move also stores to this GPU's memory
  sim::EventQueue& events_;
  MoveTable& moves_;
  sim::Bytes on_the_way_;  // bytes of loads
  // A thread holds what it loaded until the last of its stores has left, and each store counts for its share.
  // So bytes in flight and the window are counted in stores; this is the number of stores per byte of the
  // current move.
  std::int64_t stores_ = 1;
  sim::Bytes in_flight_;
  sim::Bytes window_;
  sim::Bytes loaded_;            // of the current move
  sim::Bytes to_load_;           // all of it
  sim::Bytes to_block_end_;      // data from there to the end of its block of interleaved addresses
  sim::Bytes sent_;              // encoded
  Shape unit_;                   // of the current move
  Target target_;                // likewise
  std::int32_t polled_for_ = 0;  // how many of its loads, from the first on, are waited for and not asked for
  std::int32_t loads_ = 0;
  MemorySystem& memory_;
  Port& port_;
  Port own_port_;
  net::Fabric& fabric_;
  net::Payloads* payloads_;         // null: values off
  std::uint32_t payload_ = 0;       // of a packet
  std::uint32_t largest_send_ = 0;  // more is sent in pieces
  sim::Bytes outstanding_;          // as in Setup, as are these
  sim::Time latency_;
  std::uint32_t sender_;
  net::NodeId gpu_;
  net::NodeId first_;
  MemorySystem::Cursor here_;
  std::array<MemorySystem::Cursor, Move::kMostSources> sources_;  // of the current move
  // ... and everything that only some units touch.
  Setup setup_;
  sim::Bytes available_;        // received data of the current move that are there, if they carry flags
  std::vector<MoveId> copies_;  // of the current move
  sim::Pace port_pace_;
  sim::Pace adder_pace_;
  sim::Bytes interleave_block_;
  sim::Bytes largest_unit_;
  sim::Time idle_since_ = sim::Time::never();  // since when it has only polled
  sim::Time polled_;
};

}  // namespace infold::gpu
