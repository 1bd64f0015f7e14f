// A program: what an algorithm tells every rank to do, as data. Per rank and channel a list of steps;
// each channel of a rank runs on a workgroup of its own, one step after the other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "coll/collective.h"
#include "sim/units.h"

namespace infold::coll {

/// One step. Its value is what arrives from `from`, folded with this rank's input where it uses that;
/// it goes to the output, to rank `to`, or both.
struct Step {
  static constexpr int kNobody = -1;
  int from = kNobody;
  int to = kNobody;
  bool uses_input = false;
  bool writes_output = false;
  bool finishes = false;  ///< the value is complete: an average is divided here
  sim::Bytes bytes;
  sim::Bytes input_offset;
  sim::Bytes output_offset;

  bool receives() const { return from != kNobody; }
  bool sends() const { return to != kNobody; }
  int loads() const { return int{receives()} + int{uses_input}; }
};

/// "send", "recv-reduce-send", "recv-copy-send", "copy", ...
std::string_view name_of(const Step& step);

struct Program {
  Collective collective = Collective::kAllReduce;
  sim::Bytes bytes;
  int ranks = 0;
  int channels = 0;
  std::vector<std::vector<Step>> lists;  ///< rank · channels + channel

  std::vector<Step>& steps(int rank, int channel) { return lists[index(rank, channel)]; }
  const std::vector<Step>& steps(int rank, int channel) const { return lists[index(rank, channel)]; }

 private:
  std::size_t index(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(channels) +
           static_cast<std::size_t>(channel);
  }
};

}  // namespace infold::coll
