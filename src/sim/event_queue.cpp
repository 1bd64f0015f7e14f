// The timing wheel: chain events to a slot, sort a slot when its turn comes, refill from the heap.
#include "sim/event_queue.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace infold::sim {

EventQueue::EventQueue() : slots_(kSlots, kNil), occupied_(kSlots / 64), summary_(kSlots / 64 / 64) {}

void EventQueue::add_node() {
  free_node_ = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({0, nullptr, 0, kNil});
}

// For the slot being handled: before it in the list, that is after it in time, stands what has its key.
void EventQueue::add_to_current(Key key, Handler* handler, std::uint32_t arg) {
  auto place = current_.end();
  while (place != current_.begin() && std::prev(place)->key <= key) --place;
  current_.insert(place, {key, handler, arg, 0});
}

void EventQueue::add_far(Key key, Handler* handler, std::uint32_t arg) {
  far_.push_back({key, sequence_++, handler, arg});
  std::push_heap(far_.begin(), far_.end(), std::greater<>{});
}

bool EventQueue::run(std::uint64_t limit) {
  for (; limit > 0; --limit) {
    if (handled_ == scheduled_) return false;
    const Node event = take_next();
    now_ = Time::ps(static_cast<std::int64_t>(event.key >> kPriorityBits));
    ++handled_;
    event.handler->handle(event.arg);
  }
  return handled_ != scheduled_;
}

/// Requires: there is one.
EventQueue::Node EventQueue::take_next() {
  if (!current_.empty()) {
    const Node event = current_.back();
    current_.pop_back();
    return event;
  }
  slot_ = next_occupied_slot();
  if (!far_.empty()) fetch_far();
  return take_first_of_slot();
}

/// What has come within the horizon moves to the wheel before anything can be scheduled behind it, so
/// the order of scheduling holds within every slot.
void EventQueue::fetch_far() {
  slot_ = std::min(slot_, slot_of(far_.front().key));
  while (!far_.empty() && slot_of(far_.front().key) - slot_ < kSlots) {
    const FarEvent event = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
    add_to_slot(event.key, event.handler, event.arg);
  }
}

EventQueue::Node EventQueue::take_first_of_slot() {
  const std::uint64_t position = slot_ & kSlotMask;
  const std::uint32_t last = slots_[position];
  slots_[position] = kNil;
  std::uint64_t& word = occupied_[position / 64];
  word &= ~(std::uint64_t{1} << (position % 64));
  if (word == 0) summary_[position / 4096] &= ~(std::uint64_t{1} << (position / 64 % 64));

  Node& node = nodes_[last];
  if (node.next != kNil) return sort_slot(last);
  node.next = free_node_;  // the common case: a slot with one event
  free_node_ = last;
  return node;
}

/// Takes a slot's chain apart. It runs from the event scheduled last to the first, which is the order of
/// current_ among equal keys; other keys are sorted in.
EventQueue::Node EventQueue::sort_slot(std::uint32_t last) {
  bool sorted = true;
  Key later = ~Key{0};
  std::uint32_t order = 0;
  for (std::uint32_t index = last; index != kNil;) {
    Node& node = nodes_[index];
    __builtin_prefetch(node.handler, 1);
    sorted = sorted && node.key <= later;
    later = node.key;
    current_.push_back({node.key, node.handler, node.arg, order++});
    const std::uint32_t next = node.next;
    node.next = free_node_;
    free_node_ = index;
    index = next;
  }
  if (!sorted) {
    std::sort(current_.begin(), current_.end(),
              [](const Node& a, const Node& b) { return a.key != b.key ? a.key > b.key : a.next < b.next; });
  }
  const Node event = current_.back();
  current_.pop_back();
  return event;
}

/// The first slot after slot_ that has events, or one far beyond the horizon when there is none.
std::uint64_t EventQueue::next_occupied_slot() const {
  const std::uint64_t start = slot_ + 1;
  const std::uint64_t position = start & kSlotMask;
  const std::uint64_t in_word = occupied_[position / 64] >> (position % 64);
  if (in_word != 0) return start + static_cast<std::uint64_t>(std::countr_zero(in_word));
  // Whole words after it, going once round the wheel; the summary skips 64 words at a time.
  constexpr std::uint64_t kWords = kSlots / 64;
  std::uint64_t ahead = 64 - position % 64;  // slots from start to the word looked at
  std::uint64_t word = (position / 64 + 1) % kWords;
  while (ahead <= kSlots) {
    const std::uint64_t in_summary = summary_[word / 64] >> (word % 64);
    const std::uint64_t skip =
        in_summary == 0 ? 64 - word % 64 : static_cast<std::uint64_t>(std::countr_zero(in_summary));
    ahead += skip * 64;
    word = (word + skip) % kWords;
    if (in_summary != 0) return start + ahead + static_cast<std::uint64_t>(std::countr_zero(occupied_[word]));
  }
  return ~std::uint64_t{0};
}

}  // namespace infold::sim
