// A program is what an algorithm tells every rank to do, as data. It has a list of steps per rank and
// channel; each channel of a rank runs on a workgroup of its own, one step after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "coll/program/collective.h"
#include "coll/program/names.h"
#include "coll/program/tuning.h"
#include "sim/check.h"
#include "sim/units.h"

namespace infold::coll {

/// The ranks that one step receives from or sends to, in order. There are as many as a workgroup can serve at
/// once, which is NCCL's limit: a thread holds a register for every stream it folds and an address for every
/// one it stores.
class Peers {
 public:
  static constexpr int kMost = 7;
  constexpr Peers() = default;
  constexpr Peers(std::initializer_list<int> ranks) {
    for (int rank : ranks) add(rank);
  }
  constexpr void add(int rank) {
    INFOLD_CHECK(count_ < kMost, "a step has at most seven peers each way");
    ranks_[count_++] = static_cast<std::int32_t>(rank);
  }
  constexpr int size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr bool full() const { return count_ == kMost; }
  constexpr int operator[](int i) const { return ranks_[static_cast<std::size_t>(i)]; }
  constexpr const std::int32_t* begin() const { return ranks_.data(); }
  constexpr const std::int32_t* end() const { return ranks_.data() + count_; }
  bool operator==(const Peers&) const = default;

 private:
  std::array<std::int32_t, kMost> ranks_{};
  std::uint8_t count_ = 0;
};

/// One step. Its value is the fold of what arrives from each of `from`, of this rank's input if `uses_input`
/// is set, and of what it holds from earlier steps if `uses_held` is set. The value goes to the output, to
/// each of `to`, or both. A step without bytes is only a flag: a signal or a wait.
struct Step {
  Peers from;
  Peers to;
  bool uses_input = false;
  bool uses_held = false;  ///< reads back the output or scratch memory, at `held_offset`
  bool writes_output = false;
  bool finishes = false;  ///< the value is complete: an average is divided here
  bool lands = false;     ///< stored straight into the receivers' output memory, at `output_offset`
  bool landed = false;    ///< what arrives was stored there by its sender, so only the flag is waited for
  sim::Bytes bytes;
  sim::Bytes input_offset;
  sim::Bytes held_offset;
  sim::Bytes output_offset;  ///< beyond the output lies the program's scratch memory
  sim::Bytes
      stride;  ///< in-network, kOwner: the distance from one rank's share to the next in the longer vector
  NetOp net = NetOp::kNone;
  NetWho who = NetWho::kAll;
  sim::Bytes stage;  ///< in-network, on SMs: how much of a part passes through a registered buffer at a time

  bool receives() const { return !from.empty(); }
  bool sends() const { return !to.empty(); }
  /// Whether nothing passes through the workgroup: it only waits for flags, or sets them.
  bool only_flags() const { return bytes == sim::Bytes{} || landed; }
  bool in_network() const { return net != NetOp::kNone; }
  int loads() const { return landed ? 0 : from.size() + int{uses_input} + int{uses_held}; }
  bool operator==(const Step&) const = default;
};

/// For example "send", "recv-reduce-send", "recv-copy-send", "copy", "signal" or "wait".
std::string name_of(const Step& step);
/// For example "rank 3 channel 0 step 2 of 14 (recv-reduce-send)". `step` counts from 0, the text counts
/// from 1.
std::string place_of(int rank, int channel, const std::vector<Step>& steps, std::size_t step);

struct Program {
  Collective collective = Collective::kAllReduce;
  sim::Bytes bytes;
  int ranks = 0;
  int channels = 0;
  Engine engine = Engine::kSm;  ///< what carries it out
  int root = 0;                 ///< the root of a broadcast or of a reduction to one rank
  sim::Bytes scratch;           ///< memory that each rank needs beyond its output
  Tuning tuning;  ///< what it was compiled for: how steps are cut into slices, and how many fit a buffer
  std::vector<std::vector<Step>> lists;  ///< indexed by rank · channels + channel

  /// How data lie in the receive buffers.
  gpu::Encoding encoding() const {
    return engine == Engine::kAce ? at_ports() : encoding_of(tuning.protocol);
  }
  /// Whether its switches must be able to reduce. This also holds for a program without steps if its engine
  /// serves no other kind.
  bool in_network() const {
    if (engine == Engine::kCollectiveEngine) return true;
    return std::ranges::any_of(lists, [](const auto& l) { return !l.empty() && l.front().in_network(); });
  }
  /// The number of SMs that it holds on each GPU.
  int sms() const { return engine == Engine::kSm ? channels : 0; }
  std::vector<Step>& steps(int rank, int channel) { return lists[index(rank, channel)]; }
  const std::vector<Step>& steps(int rank, int channel) const { return lists[index(rank, channel)]; }

 private:
  std::size_t index(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(channels) +
           static_cast<std::size_t>(channel);
  }
};

}  // namespace infold::coll
