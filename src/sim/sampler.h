// Reads counters at regular times while a simulation runs, for a trace. The sampler only reads: a run that is
// sampled has the same results, and a run that is not sampled pays nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/event_queue.h"
#include "sim/trace.h"

namespace infold::sim {

class Sampler final : public Handler {
 public:
  /// Both must outlive it.
  Sampler(TraceRecorder& trace, EventQueue& events) : trace_(trace), events_(events) {}
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// A total that only grows, shown as what was added per second, times `scale`. `read` is given the time.
  void add_rate(TraceRecorder::TrackId track, double scale, std::function<double(Time)> read);
  /// A level that goes up and down, shown as it is.
  void add_level(TraceRecorder::TrackId track, std::function<double(Time)> read);

  /// Starts sampling, which goes on until no other event is left. Call it once, before the queue runs.
  void start();
  /// Hands over what was read. Rates are zero from now on; levels keep their value. Call it once.
  void finish();
  /// Number of events of the queue that were the sampler's own.
  std::uint64_t events() const { return ticks_; }

 private:
  struct Counter {
    TraceRecorder::TrackId track = 0;
    bool rate = false;
    double scale = 1;
    std::function<double(Time)> read;
    double total = 0;            // of a rate, at the last sample
    std::vector<double> values;  // by row
  };

  void handle(std::uint32_t) override;
  void look();
  void thin_out();

  TraceRecorder& trace_;
  EventQueue& events_;
  std::vector<Counter> counters_;
  Time interval_;
  std::size_t most_rows_ = 0;
  std::vector<Time> begins_;  // by row: rates hold for the time up to the next row
  Time last_;                 // time of the last sample
  std::uint64_t ticks_ = 0;
};

}  // namespace infold::sim
