// What happened when, recorded while a simulation runs: spans of time on tracks, arrows between them, and
// samples of counters. A component holds a pointer that is null when tracing is off. Then tracing costs one
// predictable branch where something long ends, and nothing in the hot path.
//
// Invariants: a track's parent was added before it; kept records never exceed the limits, and what was left
// out is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/units.h"

namespace infold::sim {

/// What is to be recorded, and at most how much of it.
struct TraceSpec {
  Time interval = Time::us(1);  ///< time between two samples at first; it doubles when there are too many
  std::size_t most_spans = 200'000;    ///< spans that stand for themselves, such as a kernel
  std::size_t most_details = 200'000;  ///< spans inside those, such as the steps of a collective
  std::size_t most_samples = 400'000;

  /// The same limits, divided evenly among a number of runs.
  TraceSpec shared_by(std::size_t runs) const {
    TraceSpec s = *this;
    s.most_spans /= runs;
    s.most_details /= runs;
    s.most_samples /= runs;
    return s;
  }
};

class TraceRecorder {
 public:
  using TrackId = std::uint32_t;
  using NameId = std::uint32_t;
  using SpanId = std::uint32_t;
  static constexpr TrackId kNoTrack = ~TrackId{0};
  static constexpr SpanId kNoSpan = ~SpanId{0};

  enum class Kind : std::uint8_t {
    kGroup,    ///< holds other tracks: a GPU, a switch
    kSpans,    ///< spans, one after the other or inside each other
    kCounter,  ///< samples
  };
  struct Track {
    std::string label;
    TrackId parent = kNoTrack;
    Kind kind = Kind::kSpans;
    std::string unit;  ///< unit of a counter
  };
  struct Span {
    TrackId track;
    NameId name;
    Time start;
    Time end;
  };
  /// An arrow: one span led to the other.
  struct Arrow {
    SpanId from;
    SpanId to;
  };
  /// The counter has this value from `at` on.
  struct Sample {
    TrackId track;
    Time at;
    double value;
  };
  struct Dropped {
    std::uint64_t spans = 0;
    std::uint64_t details = 0;
  };

  explicit TraceRecorder(const TraceSpec& spec) : spec_(spec) {}

  /// Each of these adds a track if it does not exist yet.
  TrackId group(std::string label) { return track(kNoTrack, std::move(label), Kind::kGroup, {}); }
  TrackId track(TrackId group, std::string label) { return track(group, std::move(label), Kind::kSpans, {}); }
  TrackId counter(TrackId group, std::string label, std::string unit) {
    return track(group, std::move(label), Kind::kCounter, std::move(unit));
  }
  NameId name(const std::string& text) {
    const auto [place, added] = name_ids_.try_emplace(text, static_cast<NameId>(names_.size()));
    if (added) names_.push_back(text);
    return place->second;
  }

  SpanId span(TrackId track, NameId name, Time start, Time end) {
    if (whole_ == spec_.most_spans) {
      ++dropped_.spans;
      return kNoSpan;
    }
    ++whole_;
    return keep(track, name, start, end);
  }
  SpanId detail(TrackId track, NameId name, Time start, Time end) {
    if (spans_.size() - whole_ == spec_.most_details) {
      ++dropped_.details;
      return kNoSpan;
    }
    return keep(track, name, start, end);
  }
  /// Has no effect if one of the spans was not kept.
  void arrow(SpanId from, SpanId to) {
    if (from != kNoSpan && to != kNoSpan) arrows_.push_back({from, to});
  }
  /// The caller keeps to TraceSpec::most_samples. Requires: the samples of a track come in the order of time.
  void sample(TrackId track, Time at, double value) { samples_.push_back({track, at, value}); }
  /// The distance between samples at the end of the run.
  void sampled_every(Time interval) { spec_.interval = interval; }

  const TraceSpec& spec() const { return spec_; }
  const std::vector<Track>& tracks() const { return tracks_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<Arrow>& arrows() const { return arrows_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const Dropped& dropped() const { return dropped_; }

 private:
  TrackId track(TrackId parent, std::string label, Kind kind, std::string unit) {
    const auto [place, added] = track_ids_.try_emplace({parent, label}, static_cast<TrackId>(tracks_.size()));
    if (added) tracks_.push_back({std::move(label), parent, kind, std::move(unit)});
    return place->second;
  }
  SpanId keep(TrackId track, NameId name, Time start, Time end) {
    spans_.push_back({track, name, start, end});
    return static_cast<SpanId>(spans_.size() - 1);
  }

  TraceSpec spec_;
  std::vector<Track> tracks_;
  std::map<std::pair<TrackId, std::string>, TrackId> track_ids_;
  std::vector<std::string> names_;
  std::map<std::string, NameId> name_ids_;
  std::vector<Span> spans_;
  std::size_t whole_ = 0;  // spans that are not details
  std::vector<Arrow> arrows_;
  std::vector<Sample> samples_;
  Dropped dropped_;
};

}  // namespace infold::sim
