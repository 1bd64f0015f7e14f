// The timing wheel: append to a slot's list, sort a slot when its turn comes, refill from the heap.
#include "sim/event_queue.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "sim/check.h"

namespace infold::sim {

EventQueue::EventQueue() : slots_(kSlots), occupied_(kSlots / 64), summary_(kSlots / 64 / 64) {}

void EventQueue::schedule(Time at, Priority priority, Handler& handler, std::uint32_t arg) {
  INFOLD_DCHECK(at >= now_, "an event is scheduled now or later");
  const Key key = (static_cast<Key>(at.count_ps()) << kPriorityBits) | static_cast<Key>(priority);
  const std::uint64_t slot = slot_of(key);
  ++pending_;
  if (slot == slot_) {
    insert_into_current(key, &handler, arg);
  } else if (slot - slot_ < kSlots) {
    append_to_slot(key, &handler, arg);
  } else {
    far_.push_back({key, sequence_++, &handler, arg});
    std::push_heap(far_.begin(), far_.end(), std::greater<>{});
  }
}

void EventQueue::append_to_slot(Key key, Handler* handler, std::uint32_t arg) {
  std::uint32_t index = free_node_;
  if (index == kNil) {
    index = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({});
  } else {
    free_node_ = nodes_[index].next;
  }
  nodes_[index] = {key, handler, arg, kNil};

  const std::uint64_t position = slot_of(key) & kSlotMask;
  Slot& slot = slots_[position];
  if (slot.head == kNil) {
    slot.head = index;
    occupied_[position / 64] |= std::uint64_t{1} << (position % 64);
    summary_[position / 4096] |= std::uint64_t{1} << (position / 64 % 64);
  } else {
    nodes_[slot.tail].next = index;
  }
  slot.tail = index;
}

// Events for the slot being handled: they go behind every event of the same key that is already there.
void EventQueue::insert_into_current(Key key, Handler* handler, std::uint32_t arg) {
  auto place = current_.end();
  const auto first = current_.begin() + static_cast<std::ptrdiff_t>(cursor_);
  while (place != first && std::prev(place)->key > key) --place;
  current_.insert(place, {key, handler, arg, 0});
}

bool EventQueue::run(std::uint64_t limit) {
  for (; limit > 0; --limit) {
    if (cursor_ == current_.size() && !advance()) return false;
    const Node event = current_[cursor_++];
    now_ = Time::ps(static_cast<std::int64_t>(event.key >> kPriorityBits));
    --pending_;
    ++handled_;
    event.handler->handle(event.arg);
  }
  return pending_ != 0;
}

/// Moves on to the next slot that has events. Returns whether there is one.
bool EventQueue::advance() {
  current_.clear();
  cursor_ = 0;
  if (pending_ == 0) return false;
  std::uint64_t next = next_occupied_slot();
  if (!far_.empty()) next = std::min(next, slot_of(far_.front().key));
  slot_ = next;
  // What has come within the horizon moves to the wheel before anything can be scheduled behind it,
  // so the order of scheduling holds within every slot.
  while (!far_.empty() && slot_of(far_.front().key) - slot_ < kSlots) {
    const FarEvent event = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
    append_to_slot(event.key, event.handler, event.arg);
  }
  load_current(slot_);
  return true;
}

void EventQueue::load_current(std::uint64_t slot) {
  const std::uint64_t position = slot & kSlotMask;
  std::uint32_t index = slots_[position].head;
  bool sorted = true;
  Key last = 0;
  while (index != kNil) {
    Node& node = nodes_[index];
    const std::uint32_t next = node.next;
    sorted = sorted && last <= node.key;
    last = node.key;
    current_.push_back({node.key, node.handler, node.arg, static_cast<std::uint32_t>(current_.size())});
    node.next = free_node_;
    free_node_ = index;
    index = next;
  }
  slots_[position] = {};
  std::uint64_t& word = occupied_[position / 64];
  word &= ~(std::uint64_t{1} << (position % 64));
  if (word == 0) summary_[position / 4096] &= ~(std::uint64_t{1} << (position / 64 % 64));
  if (!sorted) {
    std::sort(current_.begin(), current_.end(), [](const Node& a, const Node& b) {
      return a.key != b.key ? a.key < b.key : a.next < b.next;
    });
  }
}

/// The first slot after slot_ that has events, or a slot beyond the horizon when there is none.
std::uint64_t EventQueue::next_occupied_slot() const {
  const std::uint64_t start = slot_ + 1;
  const std::uint64_t position = start & kSlotMask;
  const std::uint64_t in_word = occupied_[position / 64] >> (position % 64);
  if (in_word != 0) return start + static_cast<std::uint64_t>(std::countr_zero(in_word));
  // Whole words after it, going once round the wheel; the summary skips 64 words at a time.
  const std::uint64_t words = kSlots / 64;
  std::uint64_t ahead = 64 - position % 64;  // slots from start to the word looked at
  std::uint64_t word = (position / 64 + 1) % words;
  while (ahead <= kSlots) {
    const std::uint64_t in_summary = summary_[word / 64] >> (word % 64);
    if (in_summary == 0) {
      const std::uint64_t skip = 64 - word % 64;
      ahead += skip * 64;
      word = (word + skip) % words;
      continue;
    }
    const auto skip = static_cast<std::uint64_t>(std::countr_zero(in_summary));
    ahead += skip * 64;
    word = (word + skip) % words;
    return start + ahead + static_cast<std::uint64_t>(std::countr_zero(occupied_[word]));
  }
  return ~std::uint64_t{0};
}

}  // namespace infold::sim
