// The event queue: a timing wheel with a bitmap for the near future, a heap for the far one.
//
// Invariants:
// - Events are handled in order of (time, priority, order of scheduling). Ties are never left to chance.
// - Time never runs back: nothing can be scheduled before now().
// - In steady state nothing is allocated: nodes and the two buffers are reused.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/check.h"
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
  bool empty() const { return pending() == 0; }
  std::uint64_t pending() const { return scheduled_ - handled_; }
  std::uint64_t handled() const { return handled_; }

  /// Requires: at >= now(). `handler` must outlive the event.
  void schedule(Time at, Priority priority, Handler& handler, std::uint32_t arg) {
    INFOLD_DCHECK(at >= now_, "an event is scheduled now or later");
    const Key key = (static_cast<Key>(at.count_ps()) << kPriorityBits) | static_cast<Key>(priority);
    ++scheduled_;
    if (slot_of(key) - slot_ < kSlots) {
      add_near(key, &handler, arg);
    } else {
      add_far(key, &handler, arg);
    }
  }

  /// Handles at most `limit` events. Returns whether there are more.
  bool run(std::uint64_t limit = ~std::uint64_t{0});

 private:
  static constexpr int kSlotShift = 4;  // a slot spans 16 ps: an event or two on a busy machine
  static constexpr int kSlotBits = 16;  // 65536 slots: a horizon of one microsecond, longer than a hop
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
    std::uint32_t next;  // in its slot
  };
  /// A chain of events in the order in which they will be handled.
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

  void add_near(Key key, Handler* handler, std::uint32_t arg) {
    if (free_node_ == kNil) add_node();
    const std::uint32_t index = free_node_;
    Node& node = nodes_[index];
    free_node_ = node.next;
    node = {key, handler, arg, kNil};
    const std::uint64_t position = slot_of(key) & kSlotMask;
    Slot& slot = slots_[position];
    if (slot.head == kNil) {
      slot = {index, index};
      occupied_[position / 64] |= std::uint64_t{1} << (position % 64);
      summary_[position / 4096] |= std::uint64_t{1} << (position / 64 % 64);
    } else if (nodes_[slot.tail].key <= key) {
      nodes_[slot.tail].next = index;
      slot.tail = index;
    } else {
      insert_in_order(slot, index);
    }
  }
  void add_node();
  void insert_in_order(Slot& slot, std::uint32_t index);
  void add_far(Key key, Handler* handler, std::uint32_t arg);
  void advance();
  void fetch_far();
  std::uint64_t next_occupied_slot() const;

  Time now_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t slot_ = 0;  // the slot being handled, counted from time zero
  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kNil;
  std::vector<std::uint64_t> occupied_;  // a bit a slot
  std::vector<std::uint64_t> summary_;   // a bit a word of occupied_
  std::vector<FarEvent> far_;            // a min-heap: beyond the wheel's horizon
  std::uint64_t sequence_ = 0;
};

}  // namespace infold::sim
