// Waves: a GPU pushes only a limited distance ahead of the results it has. The results of a wave arrive when
// every rank has contributed to it, so they are the credits that let the next wave start, without messages of
// their own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/check.h"
#include "sim/units.h"

namespace infold::inc {

class Waves {
 public:
  /// If `wave` is 0 there are no waves, and everything may be sent at once.
  Waves(sim::Bytes total, sim::Bytes wave, int in_flight)
      : total_(total.count()),
        wave_(wave > sim::Bytes{} ? wave.count() : total.count()),
        in_flight_(static_cast<std::size_t>(in_flight)),
        left_(static_cast<std::size_t>((total_ + wave_ - 1) / wave_), wave_) {
    INFOLD_CHECK(total_ > 0 && in_flight >= 1, "there is something to send, and a wave to send it in");
    left_.back() = total_ - wave_ * static_cast<std::int64_t>(left_.size() - 1);
  }

  /// Bytes from the start that may have been sent by now.
  sim::Bytes may_send() const {
    return sim::min(sim::Bytes{total_}, sim::Bytes{wave_} * static_cast<std::int64_t>(first_ + in_flight_));
  }
  /// The results of bytes [offset, offset + bytes), which lie in one wave, have arrived.
  void result(std::uint64_t offset, sim::Bytes bytes) {
    std::int64_t& left = left_[static_cast<std::size_t>(offset) / static_cast<std::size_t>(wave_)];
    INFOLD_CHECK(left >= bytes.count(), "a result comes once");
    left -= bytes.count();
    while (first_ < left_.size() && left_[first_] == 0) ++first_;
  }
  /// The number of waves, from the start, that have all their results.
  std::size_t complete() const { return first_; }
  bool done() const { return first_ == left_.size(); }

 private:
  std::int64_t total_;
  std::int64_t wave_;
  std::size_t in_flight_;
  std::vector<std::int64_t> left_;  // bytes of each wave whose results have not arrived yet
  std::size_t first_ = 0;           // the first wave that is not complete
};

}  // namespace infold::inc
