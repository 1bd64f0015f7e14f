// The event queue: a timing wheel with a bitmap for the near future, a coarse wheel behind it whose chunks
// are poured into it one by one, and a heap for events beyond both.
//
// Invariants:
// - Events are handled in order of (time, priority, order of scheduling). Ties are never left to chance.
// - Time never runs back: nothing can be scheduled before now().
// - In steady state nothing is allocated: nodes and the two buffers are reused.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/check.h"
#include "sim/units.h"

namespace infold::sim {

/// Anything that can be woken by an event. `arg` is the value that was given when the event was scheduled.
class Handler {
 public:
  virtual void handle(std::uint32_t arg) = 0;

 protected:
  ~Handler() = default;
};

/// The order among events of the same picosecond: data arrives, then arbiters decide, then work is started.
enum class Priority : std::uint8_t { kArrive = 0, kArbitrate = 1, kWork = 2 };

class EventQueue {
 public:
  EventQueue();

  Time now() const { return now_; }
  bool empty() const { return pending() == 0; }
  std::uint64_t pending() const { return scheduled_ - handled_; }
  std::uint64_t handled() const { return handled_; }

  /// Requires: at >= now(). `handler` must outlive the event.
  void schedule(Time at, Priority priority, Handler& handler, std::uint32_t arg) {
    INFOLD_DCHECK(at >= now_, "an event is scheduled now or later");
    const Key key = (static_cast<Key>(at.count_ps()) << kPriorityBits) | static_cast<Key>(priority);
    ++scheduled_;
    const std::uint64_t chunk = chunk_of(key);
    if (chunk <= poured_) {
      add_near(new_node(key, &handler, arg));
    } else if (chunk - poured_ <= kChunks) {
      add_later(chunk, new_node(key, &handler, arg));
    } else {
      add_far(key, &handler, arg);
    }
  }

  /// Handles at most `limit` events. Returns whether there are more.
  bool run(std::uint64_t limit = ~std::uint64_t{0});

 private:
  // A slot spans 128 ps: few events even on a busy machine. 8192 slots are a horizon of one microsecond,
  // longer than a hop, and leave room for others in the host's caches.
  static constexpr int kSlotShift = 7;
  static constexpr int kSlotBits = 13;
  static constexpr int kChunkBits = 10;  // 1024 slots: one eighth of the wheel
  static constexpr int kPriorityBits = 3;
  static constexpr std::uint64_t kSlots = std::uint64_t{1} << kSlotBits;
  static constexpr std::uint64_t kSlotMask = kSlots - 1;
  static constexpr std::uint64_t kChunks = 4096;  // half a millisecond: most of what kernels wait for
  static constexpr std::uint64_t kChunkMask = kChunks - 1;
  /// Chunks of the wheel that lie wholly ahead of the slot being handled.
  static constexpr std::uint64_t kPouredAhead = (kSlots >> kChunkBits) - 1;
  static constexpr std::uint32_t kNil = ~std::uint32_t{0};
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  /// Time and priority in one number, so that one comparison orders two events.
  using Key = std::uint64_t;
  struct Node {
    Key key;
    Handler* handler;
    std::uint32_t arg;
    std::uint32_t next;  // next event of the same slot
  };
  /// A chain of events in the order in which they will be handled. A slot's bit says whether it has a head.
  struct Slot {
    std::uint32_t head = kNil;
    std::uint32_t tail = kNil;
  };
  struct FarEvent {
    Key key;
    std::uint64_t sequence;
    Handler* handler;
    std::uint32_t arg;
    bool operator>(const FarEvent& o) const { return key != o.key ? key > o.key : sequence > o.sequence; }
  };

  static std::uint64_t slot_of(Key key) { return key >> (kPriorityBits + kSlotShift); }
  static std::uint64_t chunk_of(Key key) { return slot_of(key) >> kChunkBits; }

  std::uint32_t new_node(Key key, Handler* handler, std::uint32_t arg) {
    if (free_node_ == kNil) add_node();
    const std::uint32_t index = free_node_;
    Node& node = nodes_[index];
    free_node_ = node.next;
    node = {key, handler, arg, kNil};
    return index;
  }
  void add_near(std::uint32_t index) {
    const Key key = nodes_[index].key;
    const std::uint64_t position = slot_of(key) & kSlotMask;
    Slot& slot = slots_[position];
    std::uint64_t& word = occupied_[position / 64];
    const std::uint64_t bit = std::uint64_t{1} << (position % 64);
    // The bits are in the first-level cache of the host and the slots are not, so an empty slot is written
    // without being read.
    if ((word & bit) == 0) {
      slot = {index, index};
      word |= bit;
      summary_[position / 4096] |= std::uint64_t{1} << (position / 64 % 64);
    } else if (nodes_[slot.tail].key <= key) {
      nodes_[slot.tail].next = index;
      slot.tail = index;
    } else {
      insert_in_order(slot, index);
    }
  }
  /// Appends to the chunk: until a chunk is poured, only the order of scheduling counts within it.
  void add_later(std::uint64_t chunk, std::uint32_t index) {
    const std::uint64_t position = chunk & kChunkMask;
    Slot& later = chunks_[position];
    if (later.head == kNil) {
      later = {index, index};
      chunks_occupied_[position / 64] |= std::uint64_t{1} << (position % 64);
    } else {
      nodes_[later.tail].next = index;
      later.tail = index;
    }
  }
  [[gnu::cold]] void add_node();
  void insert_in_order(Slot& slot, std::uint32_t index);
  void add_far(Key key, Handler* handler, std::uint32_t arg);
  /// No slot of this one's word has events any more.
  void leave_word(std::uint64_t position) {
    summary_[position / 4096] &= ~(std::uint64_t{1} << (position / 64 % 64));
  }
  void advance();
  void pour_to(std::uint64_t chunk);
  void pour(std::uint64_t chunk);
  std::uint64_t next_chunk() const;
  std::uint64_t next_occupied_slot() const;

  Time now_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t slot_ = 0;  // the slot being handled, counted from time zero
  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kNil;
  std::uint64_t poured_ = kPouredAhead;                    // events up to this chunk are in the wheel
  std::array<std::uint64_t, kSlots / 64 / 64> summary_{};  // one bit per word of occupied_
  std::array<std::uint64_t, kSlots / 64> occupied_{};      // one bit per slot
  std::vector<Slot> chunks_;                    // the next kChunks chunks, each in order of scheduling
  std::vector<std::uint64_t> chunks_occupied_;  // one bit per chunk
  std::vector<FarEvent> far_;                   // a min-heap of the events beyond those chunks
  std::uint64_t sequence_ = 0;
};

}  // namespace infold::sim
