// The trace recorder: spans on named tracks. A component holds a pointer that is null when tracing is
// off, so the cost of "off" is one predictable branch where something long ends, and none in the hot path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/units.h"

namespace infold::sim {

class TraceRecorder {
 public:
  struct Span {
    std::uint32_t track;
    std::uint32_t name;  ///< index into names()
    Time start;
    Time end;
  };

  /// Keeps at most `cap` spans; later ones are counted in dropped().
  explicit TraceRecorder(std::size_t cap) : cap_(cap) {}

  std::uint32_t add_track(std::string label) { return add(tracks_, std::move(label)); }
  std::uint32_t add_name(std::string name) { return add(names_, std::move(name)); }

  void span(std::uint32_t track, std::uint32_t name, Time start, Time end) {
    if (spans_.size() < cap_) {
      spans_.push_back({track, name, start, end});
    } else {
      ++dropped_;
    }
  }

  const std::vector<std::string>& tracks() const { return tracks_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Span>& spans() const { return spans_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  static std::uint32_t add(std::vector<std::string>& list, std::string text) {
    list.push_back(std::move(text));
    return static_cast<std::uint32_t>(list.size() - 1);
  }

  std::size_t cap_;
  std::vector<std::string> tracks_;
  std::vector<std::string> names_;
  std::vector<Span> spans_;
  std::uint64_t dropped_ = 0;
};

}  // namespace infold::sim
