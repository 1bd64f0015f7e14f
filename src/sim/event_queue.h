// The event queue: a timing wheel with a bitmap for the near future, a heap for the far one.
//
// Invariants:
// - Events are handled in order of (time, priority, order of scheduling). Ties are never left to chance.
// - Time never runs back: nothing can be scheduled before now().
// - In steady state nothing is allocated: nodes and the two buffers are reused.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace infold::sim {

/// Whatever can be woken by an event. `arg` is what it asked to be told.
class Handler {
 public:
  virtual void handle(std::uint32_t arg) = 0;

 protected:
  ~Handler() = default;
};

/// Among events of the same picosecond: data arrive, then arbiters decide, then work is taken up.
enum class Priority : std::uint8_t { kArrive = 0, kArbitrate = 1, kWork = 2 };

class EventQueue {
 public:
  EventQueue();

  Time now() const { return now_; }
  bool empty() const { return pending_ == 0; }
  std::size_t pending() const { return pending_; }
  std::uint64_t handled() const { return handled_; }

  /// Requires: at >= now(). `handler` must outlive the event.
  void schedule(Time at, Priority priority, Handler& handler, std::uint32_t arg);

  /// Handles at most `limit` events. Returns whether there are more.
  bool run(std::uint64_t limit = ~std::uint64_t{0});

  /// Bytes that one scheduled event takes.
  static constexpr std::size_t node_bytes() { return sizeof(Node); }

 private:
  static constexpr int kSlotShift = 6;    // a slot spans 64 ps: a handful of events on a busy machine
  static constexpr int kSlotBits = 14;    // 16384 slots: a horizon of one microsecond, longer than a hop
  static constexpr int kPriorityBits = 3;
  static constexpr std::uint64_t kSlots = std::uint64_t{1} << kSlotBits;
  static constexpr std::uint64_t kSlotMask = kSlots - 1;
  static constexpr std::uint32_t kNil = ~std::uint32_t{0};

  /// Time and priority in one number, so that one comparison orders two events.
  using Key = std::uint64_t;
  struct Node {
    Key key;
    Handler* handler;
    std::uint32_t arg;
    std::uint32_t next;  // in a slot's list; in current_, the order of scheduling
  };
  struct FarEvent {
    Key key;
    std::uint64_t sequence;
    Handler* handler;
    std::uint32_t arg;
    bool operator>(const FarEvent& o) const {
      return key != o.key ? key > o.key : sequence > o.sequence;
    }
  };
  struct Slot {
    std::uint32_t head = kNil;
    std::uint32_t tail = kNil;
  };

  static std::uint64_t slot_of(Key key) { return key >> (kPriorityBits + kSlotShift); }
  void append_to_slot(Key key, Handler* handler, std::uint32_t arg);
  void insert_into_current(Key key, Handler* handler, std::uint32_t arg);
  bool advance();
  void load_current(std::uint64_t slot);
  std::uint64_t next_occupied_slot() const;

  Time now_;
  std::size_t pending_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t slot_ = 0;  // the slot that current_ was taken from, counted from time zero

  std::vector<Node> current_;  // events of that slot in order, handled up to cursor_
  std::size_t cursor_ = 0;

  std::vector<Slot> slots_;
  std::vector<std::uint64_t> occupied_;  // a bit a slot
  std::vector<std::uint64_t> summary_;   // a bit a word of occupied_
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kNil;

  std::vector<FarEvent> far_;  // a min-heap: beyond the wheel's horizon
};

}  // namespace infold::sim
