// The timing wheel: slots keep their few events in order, chunks and the heap refill them.
#include "sim/event_queue.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace infold::sim {

EventQueue::EventQueue() : slots_(kSlots), chunks_(kChunks), chunks_occupied_(kChunks / 64) {}

void EventQueue::add_node() {
  free_node_ = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({0, nullptr, 0, kNil});
}

/// Inserts an event behind every event of the slot that is not later. Slots are short, so a search from the
/// front is fast enough.
void EventQueue::insert_in_order(Slot& slot, std::uint32_t index) {
  const Key key = nodes_[index].key;
  std::uint32_t* link = &slot.head;
  while (nodes_[*link].key <= key) link = &nodes_[*link].next;
  nodes_[index].next = *link;
  *link = index;
}

void EventQueue::add_far(Key key, Handler* handler, std::uint32_t arg) {
  far_.push_back({key, sequence_++, handler, arg});
  std::push_heap(far_.begin(), far_.end(), std::greater<>{});
}

namespace {
/// Prefetches the first cache lines of the handler that will most likely be next, while this event is
/// handled. The function must be inlined: GCC drops calls to a function that only prefetches.
[[gnu::always_inline]] inline void fetch_ahead(const Handler& handler) {
  constexpr int kLines = 3;
  const char* at = reinterpret_cast<const char*>(&handler);
  for (int i = 0; i < kLines; ++i) __builtin_prefetch(at + 64 * i, 1);
}
}  // namespace

bool EventQueue::run(std::uint64_t limit) {
  const std::uint64_t until = limit > ~std::uint64_t{0} - handled_ ? ~std::uint64_t{0} : handled_ + limit;
  if (handled_ == until || handled_ == scheduled_) return handled_ != scheduled_;
  if (slots_[slot_ & kSlotMask].head == kNil) advance();
  for (;;) {
    // The word of the slot that is next. The slots before it in its word have no events, nor will they get
    // any before the wheel has gone round, so the next slot is always that of the lowest bit.
    const std::uint64_t first = slot_ / 64 * 64;
    const std::uint64_t position = first & kSlotMask;
    std::uint64_t& word = occupied_[position / 64];
    Slot* const slots = &slots_[position];
    do {
      const auto place = static_cast<std::uint64_t>(std::countr_zero(word));
      Slot& slot = slots[place];
      std::uint32_t index = slot.head;
      do {
        Node& node = nodes_[index];
        const Node event = node;
        slot.head = event.next;
        node.next = free_node_;
        free_node_ = index;
        now_ = Time::ps(static_cast<std::int64_t>(event.key >> kPriorityBits));
        ++handled_;
        if (event.next == kNil) {
          word &= word - 1;  // until a handler adds to this slot
          if (word != 0) fetch_ahead(*nodes_[slots[std::countr_zero(word)].head].handler);
        } else {
          fetch_ahead(*nodes_[event.next].handler);
        }
        event.handler->handle(event.arg);
        if (handled_ == until) [[unlikely]] {
          // The slot stays, because an event that is added from now on may come before the next one.
          slot_ = first + place;
          if (word == 0) leave_word(position);
          return handled_ != scheduled_;
        }
        index = slot.head;
      } while (index != kNil);
      slot_ = first + place;
    } while (word != 0);  // most often the next event is near
    leave_word(position);
    if (handled_ == scheduled_) return false;
    advance();
  }
}

/// Moves on to the next slot that has events. Requires: there is one.
void EventQueue::advance() {
  std::uint64_t next = next_occupied_slot();
  if (next == kNowhere) {
    // The wheel is empty: it turns to the first chunk that is not.
    const std::uint64_t chunk = next_chunk();
    slot_ = (chunk << kChunkBits) - 1;
    pour_to(chunk + kPouredAhead);
    next = next_occupied_slot();
  }
  slot_ = next;
  pour_to((slot_ >> kChunkBits) + kPouredAhead);
}

/// Events that have come within the horizon of the wheel move there before anything can be scheduled behind
/// them, so the order of scheduling holds within every slot.
void EventQueue::pour_to(std::uint64_t chunk) {
  while (poured_ < chunk) {
    // Chunks in between are skipped when all that is left lies behind them.
    const std::uint64_t next = std::min(next_chunk(), chunk);
    pour(next);
    poured_ = next;
  }
}

/// Of two events with the same time, the one in the heap was scheduled first: at that time its chunk was
/// still beyond the coarse wheel.
void EventQueue::pour(std::uint64_t chunk) {
  while (!far_.empty() && chunk_of(far_.front().key) <= chunk) {
    const FarEvent event = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
    add_near(new_node(event.key, event.handler, event.arg));
  }
  const std::uint64_t position = chunk & kChunkMask;
  std::uint32_t index = std::exchange(chunks_[position], Slot{}).head;
  chunks_occupied_[position / 64] &= ~(std::uint64_t{1} << (position % 64));
  while (index != kNil) {
    const std::uint32_t next = std::exchange(nodes_[index].next, kNil);
    add_near(index);
    index = next;
  }
}

/// The first chunk behind poured_ that has events, in the heap or not; kNowhere when there is none.
std::uint64_t EventQueue::next_chunk() const {
  const std::uint64_t in_heap = far_.empty() ? kNowhere : chunk_of(far_.front().key);
  const std::uint64_t first = poured_ + 1;
  for (std::uint64_t ahead = 0; ahead < kChunks;) {
    const std::uint64_t position = (first + ahead) & kChunkMask;
    const std::uint64_t bits = chunks_occupied_[position / 64] >> (position % 64);
    if (bits != 0) {
      const std::uint64_t found = ahead + static_cast<std::uint64_t>(std::countr_zero(bits));
      return found < kChunks ? std::min(in_heap, first + found) : in_heap;
    }
    ahead += 64 - position % 64;
  }
  return in_heap;
}

/// The first slot after slot_ that has events, or kNowhere.
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
  return kNowhere;
}

}  // namespace infold::sim
