// A move: a run of bytes that a communication workgroup streams through itself (load, combine, store).
// The table of moves is shared by a machine's GPUs: a packet names its move, and both ends look it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/encoding.h"
#include "net/blueprint.h"
#include "sim/check.h"
#include "sim/units.h"

namespace infold::gpu {

class Mover;
using MoveId = std::uint32_t;

/// What one thread loads or stores at once. Moves are cut at multiples of it, so that no element, whose size
/// divides it, is cut in two.
inline constexpr std::int64_t kVectorAccess = 16;

/// Who asked for a move, and in functional mode knows the values behind it.
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
  /// Flags inside the data, at the receiving memory: so many bytes of the encoded move are there.
  /// Whoever has no such moves need not listen.
  virtual void landed(std::uint32_t /*cookie*/, std::uint32_t /*wire_offset*/, std::uint32_t /*wire_bytes*/) {
  }

 protected:
  ~MoveClient() = default;
};

struct Move {
  static constexpr int kNowhere = -1;
  sim::Bytes bytes;
  int loads = 1;              ///< local streams read for each byte stored
  int received = 0;           ///< of them, receive buffers, in which data lie encoded
  Encoding encoding;          ///< of what is received and sent
  bool stores_here = false;   ///< also, or only, written to this GPU's memory
  int to = kNowhere;          ///< GPU whose memory it is written to
  std::uint64_t address = 0;  ///< there; spreads the packets over the links
  sim::Bytes available;       ///< flags inside the data: so much of what is received is there already
  MoveClient* client = nullptr;
  std::uint32_t cookie = 0;
};

class MoveTable {
 public:
  struct Entry {
    Move move;
    Mover* mover = nullptr;
    sim::Bytes unacknowledged;
    bool issued = false;
    MoveId next_free = 0;
  };
  MoveId add(const Move& move, Mover& mover) {
    MoveId id = free_;
    if (id == kNone) {
      id = static_cast<MoveId>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[id].next_free;
    }
    entries_[id] = {move, &mover, {}, false, kNone};
    ++active_;
    return id;
  }
  void remove(MoveId id) {
    INFOLD_DCHECK(active_ > 0, "a move ends once");
    --active_;
    entries_[id].next_free = free_;
    free_ = id;
  }
  Entry& operator[](MoveId id) { return entries_[id]; }
  std::size_t active() const { return active_; }

 private:
  static constexpr MoveId kNone = ~MoveId{0};
  std::vector<Entry> entries_;
  MoveId free_ = kNone;
  std::size_t active_ = 0;
};

}  // namespace infold::gpu
