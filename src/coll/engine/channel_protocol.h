// The protocol of a channel: the interpreter's back end for packets. It carries one channel of one rank
// through its steps, on a communication workgroup or another data path. With NCCL's Simple protocol it
// streams a slice, fences, announces the slice once it is visible, and gives the slot back. With LL and LL128
// data carry their flags, so it passes on what has landed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/engine/packet_connection.h"
#include "coll/program/step_interpreter.h"
#include "coll/program/values.h"
#include "gpu/copy/data_path.h"
#include "gpu/gpu.h"
#include "sim/event_queue.h"
#include "sim/pool.h"
#include "sim/trace.h"

namespace infold::coll {

class ChannelProtocol;
class NetTransport;

/// What the channels of one collective share.
struct ProtocolContext {
  Tuning tuning;
  gpu::Encoding encoding;
  bool on_chip = false;       ///< receive buffers are in the accelerator, not in memory
  sim::Time fence;            ///< time between data being visible and the flag that says so
  std::span<const int> gpus;  ///< rank r is GPU gpus[r]
  std::vector<PacketConnection> connections;
  NetTransport* net = nullptr;  ///< of connections between nodes; null if there are none
  const Buffers* buffers = nullptr;
  Values* values = nullptr;  ///< null if only timing is simulated
  sim::EventQueue* events = nullptr;
  sim::TraceRecorder* trace = nullptr;  ///< null if tracing is off
  std::size_t channels_left = 0;        ///< channels that are not done
  std::uint64_t flags_under_way = 0;    ///< flags that were sent and not seen
  std::function<void()> settled;        ///< called when nothing is left of either

  void settle() const {
    if (channels_left == 0 && flags_under_way == 0) settled();
  }
};

class ProtocolOwner {
 public:
  virtual void channel_done(ChannelProtocol& channel) = 0;

 protected:
  ~ProtocolOwner() = default;
};

class ChannelProtocol final : public gpu::MoveClient, public sim::Handler {
 public:
  struct Setup {
    int rank = 0;
    int channel = 0;
    const std::vector<Step>* steps = nullptr;
    const Wiring::Channel* wiring = nullptr;
    std::uint32_t trace_track = 0;
  };
  /// Requires: the context has all its connections.
  ChannelProtocol(const Setup& setup, ProtocolContext& context, ProtocolOwner& owner);

  void start(gpu::Gpu& gpu, gpu::DataPath& path);
  bool done() const { return state_ == State::kDone; }
  int rank() const { return setup_.rank; }
  int channel() const { return setup_.channel; }
  /// For example "rank 3 channel 5 step 12 of 45 (recv-reduce-send), slice at byte 0: waits for data from
  /// rank 2"; empty if it does not wait.
  std::string why_waiting() const;
  /// More of slice `number` of an inbound connection is there. If it is the one being received, it goes on.
  void see(const PacketConnection& connection, std::uint64_t number);
  /// How long it could not go on because data, a slot or acknowledgements were missing. Requires: the channel
  /// is done.
  sim::Time waited() const { return waited_ + polled_; }

  /// The argument of signals is connection · 2, plus 1 for a head flag.
  static std::uint32_t tail_arg(std::uint32_t connection) { return connection * 2; }
  static std::uint32_t head_arg(std::uint32_t connection) { return connection * 2 + 1; }

  // The back end of the interpreter (StepBackend), called by that alone.
  static constexpr bool kMovesPoll = true;
  void begin(const Slice& slice);
  void pass(const Slice&) {}
  void announce(PacketConnection& out, std::uint64_t number);
  void give_back(PacketConnection& in, std::uint64_t number);
  void step_ended(const Step& step);

 private:
  /// An event of its own: the fence behind the slice with that cookie is through.
  static constexpr std::uint32_t kFenced = 1U << 31;
  enum class State { kIdle, kWaiting, kMoving, kDraining, kDone };
  /// A slice on its way to one of its receivers, or to the output only.
  struct UnderWay {
    Slice slice;
    int receiver = -1;         // index in the step's `to`; -1 if it only goes to the output
    std::uint64_t number = 0;  // the number of the slice on the connection to the receiver
  };

  void handle(std::uint32_t arg) override;
  void move_issued(std::uint32_t cookie) override;
  void move_complete(std::uint32_t cookie) override;
  void produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t cookie, std::uint32_t offset, std::span<const std::byte> values) override;
  void landed(std::uint32_t cookie, std::uint32_t wire_offset, std::uint32_t wire_bytes) override;

  void advance();
  void place_loads(gpu::Move& move, const Slice& slice);
  void place_store(gpu::Move& move, const UnderWay& to);
  void close_slice(std::uint32_t cookie);
  void wait(State why);
  void stop_waiting();
  sim::Bytes available();
  void hand_over(PacketConnection& out, std::uint64_t number, bool speaks);
  void open_connections();
  bool flags_inside() const { return context_.encoding.flags_inside; }
  /// Bytes from one slot of a buffer to the next.
  std::uint64_t slot_size() const;
  /// Whether a flag follows the slice when it is visible.
  bool is_announced(const UnderWay& slice) const {
    return slice.receiver >= 0 && !steps_.speaks_for_itself(steps_.steps()[slice.slice.step]);
  }
  void finish_if_drained();
  net::NodeId gpu_of(int rank) const {
    return static_cast<net::NodeId>(context_.gpus[static_cast<std::size_t>(rank)]);
  }

  Setup setup_;
  ProtocolContext& context_;
  ProtocolOwner& owner_;
  StepInterpreter<PacketConnection> steps_;
  gpu::Gpu* gpu_ = nullptr;
  gpu::DataPath* path_ = nullptr;
  State state_ = State::kIdle;
  sim::Time waits_since_;
  sim::Time waited_;
  sim::Time polled_;
  sim::Pool<UnderWay> under_way_;  // slices begun and not yet complete, by cookie
  std::vector<gpu::Move> copies_;  // of the slice being begun, to all receivers but the first
  sim::Time step_started_;
};

}  // namespace infold::coll
