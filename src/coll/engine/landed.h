// Which bytes of a buffer slot have landed. Packets take different links and overtake each other. A reader
// goes from the front, so what counts is up to where everything is there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace infold::coll {

class Landed {
 public:
  /// Everything before this is there.
  std::uint32_t up_to() const { return up_to_; }

  /// Requires: no byte lands twice.
  void add(std::uint32_t begin, std::uint32_t bytes) {
    std::uint32_t end = begin + bytes;
    if (begin != up_to_) {
      ahead_.insert(std::ranges::upper_bound(ahead_, begin, {}, &Piece::begin), {begin, end});
      return;
    }
    // The piece may close the gap to pieces that came early. There are only a few of these, as many as there
    // are links.
    std::size_t joined = 0;
    for (; joined < ahead_.size() && ahead_[joined].begin == end; ++joined) end = ahead_[joined].end;
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(joined));
    up_to_ = end;
  }
  /// The slot is free again.
  void clear() {
    up_to_ = 0;
    ahead_.clear();
  }

 private:
  struct Piece {
    std::uint32_t begin;
    std::uint32_t end;
  };
  std::uint32_t up_to_ = 0;
  std::vector<Piece> ahead_;  // in order; keeps its memory
};

}  // namespace infold::coll
