// When the hardware must be done with adding a contribution: the rule of the simulator (one after the other,
// a beat per cycle), with the cycles of the pipeline that docs/rtl.md gives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace infold::rtl {

inline constexpr std::uint64_t kTagToRead = 1;    // from the tag stage to the reading of the first beat
inline constexpr std::uint64_t kReadToWrite = 5;  // a beat: reading, four stages of adding
inline constexpr std::uint64_t kSumToOutput = 5;  // from the last write to the first beat at an output
/// From the end of adding (by the simulator's count) to the first beat at the outputs of an idle unit.
inline constexpr std::uint64_t kLatency = kReadToWrite + kSumToOutput;

class AluRule {
 public:
  /// The tag stage takes a contribution in cycle `now`. Returns the beats that wait for an earlier write.
  std::uint64_t take(std::uint64_t now, std::uint64_t key, bool first, unsigned beats) {
    std::uint64_t at = std::max(now + kTagToRead, free_);
    std::vector<std::uint64_t>& written = read_[key];
    written.resize(std::max<std::size_t>(written.size(), beats), 0);
    std::uint64_t waited = 0;
    for (unsigned b = 0; b < beats; ++b, ++at) {
      if (!first && written[b] != 0 && at <= written[b] + kReadToWrite) {
        waited += written[b] + kReadToWrite + 1 - at;
        at = written[b] + kReadToWrite + 1;
      }
      written[b] = at;
    }
    free_ = at;
    due_.push_back(at - 1 + kReadToWrite);
    if (due_.size() == 1 && read_.size() > 64) {
      auto last = std::move(read_[key]);
      read_.clear();
      read_[key] = std::move(last);
    }
    return waited;
  }
  /// A contribution has been added in cycle `now`; whether that is when it had to be.
  bool done(std::uint64_t now) {
    if (due_.empty()) return false;
    const bool right = due_.front() == now;
    due_.pop_front();
    return right;
  }

 private:
  std::uint64_t free_ = 0;
  std::deque<std::uint64_t> due_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> read_;  // last cycle that read each beat
};

}  // namespace infold::rtl
