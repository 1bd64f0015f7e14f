// A connection: the buffer at a receiver that one rank fills for another on one channel, slot by slot, and
// the counts that both ends keep of it. Every back end of the interpreter adds what it needs of its own.
#pragma once

#include <cstdint>

namespace infold::coll {

/// Counts are in slices since the start; slice n is in slot n modulo the number of slots. The sender may run
/// ahead by that number. Flags tell the receiver what is there (tail) and the sender what was taken (head),
/// as in NCCL's Simple protocol. Always freed <= taken <= arrived <= announced <= sent <= freed + slots.
class Connection {
 public:
  /// A buffer has no more slots than this (coll.buffer_steps is not above it either).
  static constexpr std::uint64_t kMostSlots = 64;

  int from = 0;  ///< a rank
  int to = 0;

  // The counts of the sender.
  std::uint64_t sent = 0;       ///< slices begun
  std::uint64_t announced = 0;  ///< every slice before this one is visible at the receiver, and was announced
  std::uint64_t freed = 0;      ///< slots that the sender saw given back
  // The counts of the receiver.
  std::uint64_t arrived = 0;  ///< slices that the receiver saw announced
  std::uint64_t taken = 0;    ///< slices consumed

  bool has_data() const { return arrived > taken; }
  bool has_room(std::uint64_t slots) const { return sent - freed < slots; }
  /// The slice that the sender began last.
  std::uint64_t newest() const { return sent - 1; }

  /// Slice `number` has become visible at the receiver. Slices become visible in any order, but a flag says
  /// "everything up to here": `announce(n)` is called for each slice n whose turn has come, in order. It is
  /// not called for slices that are `silent`: their data carry flags, and the receiver sees them arrive.
  template <class Announce>
  void complete(std::uint64_t number, bool silent, Announce&& announce) {
    complete_ |= bit(number);
    if (silent) silent_ |= bit(number);
    while (announced < sent && (complete_ & bit(announced)) != 0) {
      const std::uint64_t next = announced++;
      const bool quiet = (silent_ & bit(next)) != 0;
      complete_ &= ~bit(next);
      silent_ &= ~bit(next);
      if (!quiet) announce(next);
    }
  }

 private:
  static std::uint64_t bit(std::uint64_t number) { return std::uint64_t{1} << (number % kMostSlots); }

  std::uint64_t complete_ = 0;  // a bit per slice that is visible and not yet announced
  std::uint64_t silent_ = 0;    // those of them that no flag announces
};

}  // namespace infold::coll
