// A runner carries one rank's one channel through its steps, on one communication workgroup or what else
// moves data. With NCCL's
// Simple protocol: wait for the flag and for a free slot, stream the slice, announce it once it is visible,
// give the slot back. With LL and LL128 data carry their flags: wait for a free slot only, and pass on what
// has landed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/engine/connection.h"
#include "coll/program/program.h"
#include "coll/program/tuning.h"
#include "coll/program/values.h"
#include "gpu/copy/data_path.h"
#include "gpu/gpu.h"
#include "sim/event_queue.h"
#include "sim/trace.h"

namespace infold::coll {

class Runner;

/// What the runners of one collective share.
struct RunnerContext {
  Tuning tuning;
  gpu::Encoding encoding;
  bool on_chip = false;       ///< receive buffers are in the accelerator, not in memory
  sim::Time fence;            ///< between data's being visible and the flag that says so
  std::span<const int> gpus;  ///< rank r is GPU gpus[r]
  std::vector<Connection>* connections = nullptr;
  const Buffers* buffers = nullptr;
  Values* values = nullptr;  ///< null: timing only
  sim::EventQueue* events = nullptr;
  sim::TraceRecorder* trace = nullptr;  ///< null: tracing off
};

class RunnerOwner {
 public:
  virtual void runner_done(Runner& runner) = 0;

 protected:
  ~RunnerOwner() = default;
};

class Runner final : public gpu::MoveClient, public sim::Handler {
 public:
  /// The connections of step i begin at `connections[first[i]]`: those it receives from, then those it sends
  /// to, each in the step's order.
  struct Setup {
    int rank = 0;
    int channel = 0;
    const std::vector<Step>* steps = nullptr;
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> connections;
    std::uint32_t trace_track = 0;
  };
  Runner(Setup setup, const RunnerContext& context, RunnerOwner& owner);

  void start(gpu::Gpu& gpu, gpu::DataPath& path);
  bool done() const { return state_ == State::kDone; }
  int rank() const { return setup_.rank; }
  int channel() const { return setup_.channel; }
  /// "rank 3 channel 5 step 12 of 45 (recv-reduce-send), slice 1: waits for data from rank 2" or empty.
  std::string why_waiting() const;
  /// How long it could not go on for want of data, a slot or acknowledgements; of a runner that is done.
  sim::Time waited() const { return waited_ + polled_; }

  /// Signals: `arg` is connection · 2, plus 1 for a head flag.
  static std::uint32_t tail_arg(std::uint32_t connection) { return connection * 2; }
  static std::uint32_t head_arg(std::uint32_t connection) { return connection * 2 + 1; }

 private:
  /// Events of its own: the fence behind the slice of that cookie is through.
  static constexpr std::uint32_t kFenced = 1U << 31;
  enum class State { kIdle, kNeedsData, kNeedsSlot, kMoving, kDraining, kDone };
  /// A slice on its way to one of its receivers, or to the output only: which bytes of which step.
  struct Slice {
    std::uint32_t step = 0;
    sim::Bytes begin;  // within the step
    sim::Bytes bytes;
    int receiver = -1;             // which of the step's `to`; -1: none
    std::uint64_t out_number = 0;  // counted since the connection's start
  };

  void handle(std::uint32_t arg) override;
  void move_issued(std::uint32_t cookie) override;
  void move_complete(std::uint32_t cookie) override;
  void produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t cookie, std::uint32_t offset, std::span<const std::byte> values) override;
  void landed(std::uint32_t cookie, std::uint32_t wire_offset, std::uint32_t wire_bytes) override;

  void advance();
  bool can_begin();
  void begin_slice();
  void place_loads(gpu::Move& move, const Step& s);
  std::uint32_t open_slice(const Slice& slice);
  void pass_flags();
  void slice_taken(sim::Bytes bytes);
  void close_slice(std::uint32_t cookie);
  void announce(Connection& connection);
  void wait(State why);
  void stop_waiting();
  sim::Bytes available();
  void see(const Connection& connection, std::uint64_t slot);
  bool flags_inside() const { return encoding_.flags_inside; }
  /// Its receivers see what it sends arrive: no flag follows.
  bool speaks_for_itself(const Step& s) const { return flags_inside() && !s.lands; }
  void pass_unannounced(Connection& connection, std::uint64_t number);
  void finish_if_drained();
  const Step& step() const { return (*setup_.steps)[step_]; }
  Connection& inbound(std::uint32_t step, int i) {
    return (*context_.connections)[setup_.connections[setup_.first[step] + static_cast<std::uint32_t>(i)]];
  }
  Connection& outbound(std::uint32_t step, int i) {
    return inbound(step, (*setup_.steps)[step].from.size() + i);
  }
  net::NodeId gpu_of(int rank) const {
    return static_cast<net::NodeId>(context_.gpus[static_cast<std::size_t>(rank)]);
  }

  Setup setup_;
  const RunnerContext& context_;
  RunnerOwner& owner_;
  gpu::Gpu* gpu_ = nullptr;
  gpu::DataPath* path_ = nullptr;
  State state_ = State::kIdle;
  int waits_for_ = 0;  // the rank whose data or slot is missing
  std::uint32_t step_ = 0;
  sim::Bytes begin_;  // of the next slice, within the step
  std::uint64_t slots_;
  gpu::Encoding encoding_;
  sim::Time waits_since_;
  sim::Time waited_;
  sim::Time polled_;
  std::vector<Slice> under_way_;  // by cookie, reused
  std::vector<std::uint32_t> free_cookies_;
  std::vector<gpu::Move> copies_;  // of the slice being begun, to all receivers but the first
  std::uint32_t open_ = 0;         // slices begun and not yet complete
  sim::Time step_started_;
};

}  // namespace infold::coll
