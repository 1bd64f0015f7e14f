// A move: a run of bytes that a communication workgroup streams through itself (load, combine, store).
// The table of moves is shared by a machine's GPUs: a packet names its move, and both ends look it up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/copy/encoding.h"
#include "gpu/memory/memory_system.h"
#include "net/topology/blueprint.h"
#include "sim/check.h"
#include "sim/pool.h"
#include "sim/units.h"

namespace infold::gpu {

class CopyPipeline;
using MoveId = std::uint32_t;

/// What one thread loads or stores at once. Moves are cut at multiples of it, so that no element, whose size
/// divides it, is cut in two.
inline constexpr std::int64_t kVectorAccess = 16;

/// A place in a GPU's memory: an offset from the start of a buffer that AddressSpace::buffer named.
struct Place {
  std::uint64_t buffer = 0;
  std::uint64_t offset = 0;
};

/// The client of a move is told of its progress, and in functional mode knows the values behind it.
class MoveClient {
 public:
  /// Every byte was loaded and its store handed on: the workgroup can take up its next move.
  virtual void move_issued(std::uint32_t cookie) = 0;
  /// Every store is visible where it went: a flag may announce the data.
  virtual void move_complete(std::uint32_t cookie) = 0;
  /// Functional mode, at the sending workgroup: the values of bytes [offset, offset + out.size()),
  /// read and combined now. A local store, if the move has one, happens now too.
  virtual void produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) = 0;
  /// Functional mode, at the receiving memory.
  virtual void consume(std::uint32_t cookie, std::uint32_t offset, std::span<const std::byte> values) = 0;
  /// Flags inside the data, at the receiving memory: this many bytes of the encoded move are there. Clients
  /// without such moves need not override it.
  virtual void landed(std::uint32_t /*cookie*/, std::uint32_t /*wire_offset*/, std::uint32_t /*wire_bytes*/) {
  }

 protected:
  ~MoveClient() = default;
};

struct Move {
  static constexpr int kNowhere = -1;
  static constexpr std::size_t kMostSources = 9;  // seven received, the input, and what was held
  // What every packet asks for, in one cache line ...
  sim::Bytes bytes;
  std::uint64_t address = 0;  ///< at its destination; spreads the packets over the links
  MoveClient* client = nullptr;
  sim::Bytes available;  ///< flags inside the data: how much of what is received is there already
  std::uint32_t cookie = 0;
  int to = kNowhere;         ///< GPU whose memory it is written to
  Encoding encoding;         ///< of what is received and sent
  int loads = 1;             ///< local streams read for each byte stored
  int received = 0;          ///< of them, receive buffers, in which data lie encoded
  bool stores_here = false;  ///< also, or only, written to this GPU's memory
  bool on_chip = false;      ///< receive buffers are not in memory but in the accelerator at the ports
  bool lands = false;        ///< is stored to memory at its destination, wherever receive buffers are
  // ... and what only its beginning does.
  Place here;                                 ///< of the store to this GPU's memory
  Place there;                                ///< of the store to the other's
  std::array<Place, kMostSources> sources{};  ///< of the loads, those received first
};
static_assert(offsetof(Move, here) == 64, "what every packet asks for is one cache line");

class MoveTable {
 public:
  struct alignas(64) Entry {
    // What every packet touches, at both ends, in one cache line.
    MemorySystem::Cursor arriving;  // at the receiving memory
    CopyPipeline* pipeline = nullptr;
    sim::Bytes unacknowledged;  // of what pipelines have told to be sent; below 0 as long as they have not
    sim::Time visible;          // when the latest acknowledgement is here
    bool issued = false;        // all of it was sent
    bool ordinary = true;       // stored to memory where it arrives, and nothing waits for single packets
    Move move;
    /// Every byte was sent, and its acknowledgement is here or on its last link.
    bool settled() const { return issued && unacknowledged == sim::Bytes{}; }
    /// Bytes are visible at their destination, which their pipeline will know at `at`. Returns settled().
    bool acknowledge(sim::Bytes bytes, sim::Time at) {
      unacknowledged -= bytes;
      INFOLD_DCHECK(!issued || unacknowledged >= sim::Bytes{}, "no byte is acknowledged twice");
      visible = sim::max(visible, at);
      return settled();
    }
  };
  static_assert(offsetof(Entry, move) == 64);
  MoveId add(const Move& move, CopyPipeline& pipeline) {
    const MoveId id = entries_.take();
    const bool in_memory = !move.on_chip || move.lands;
    entries_[id] = {.arriving = {},
                    .pipeline = &pipeline,
                    .unacknowledged = {},
                    .visible = {},
                    .ordinary = in_memory && !move.encoding.flags_inside,
                    .move = move};
    if (move.to != Move::kNowhere) {
      const auto bytes = static_cast<std::uint64_t>(move.encoding.wire(move.bytes).count());
      entries_[id].arriving = {Actor::kCollective, move.there.buffer, move.there.offset, bytes};
    }
    return id;
  }
  void remove(MoveId id) { entries_.give_back(id); }
  Entry& operator[](MoveId id) { return entries_[id]; }
  std::size_t active() const { return entries_.used(); }

 private:
  sim::Pool<Entry> entries_;
};

}  // namespace infold::gpu
