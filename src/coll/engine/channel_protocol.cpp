// What happens to each slice: a move, acknowledgements, a fence, flags.
#include "coll/engine/channel_protocol.h"

#include <fmt/format.h>

#include <limits>

#include "coll/engine/net_transport.h"
#include "coll/program/chunking.h"

namespace infold::coll {

namespace {
std::uint64_t bytes_of(sim::Bytes b) {
  return static_cast<std::uint64_t>(b.count());
}
}  // namespace

ChannelProtocol::ChannelProtocol(const Setup& setup, ProtocolContext& context, ProtocolOwner& owner)
    : setup_(setup),
      context_(context),
      owner_(owner),
      steps_({.steps = setup.steps,
              .wiring = setup.wiring,
              .connections = context.connections,
              .tuning = &context.tuning,
              .flags_inside = context.encoding.flags_inside}) {}

void ChannelProtocol::start(gpu::Gpu& gpu, gpu::DataPath& path) {
  gpu_ = &gpu;
  path_ = &path;
  step_started_ = context_.events->now();
  if (context_.net != nullptr) open_connections();
  advance();
}

/// Clears all slots of the connections from other nodes.
void ChannelProtocol::open_connections() {
  for (const std::uint32_t index : setup_.wiring->connections) {
    PacketConnection& c = context_.connections[index];
    if (!c.between_nodes() || c.receiver != this || c.opened) continue;
    c.opened = true;
    ++context_.flags_under_way;
    context_.net->open(c.way);
  }
}

/// Begins the next slice if everything that it needs is there; otherwise the arrival of a flag calls this
/// again.
void ChannelProtocol::advance() {
  using Took = StepInterpreter<PacketConnection>::Took;
  Took took = Took::kFlags;
  while (took == Took::kFlags) took = steps_.take_up(*this);
  if (took == Took::kSlice) return;
  wait(steps_.at_end() ? State::kDraining : State::kWaiting);
  if (steps_.at_end()) finish_if_drained();
}

void ChannelProtocol::wait(State why) {
  if (state_ == State::kIdle || state_ == State::kMoving) waits_since_ = context_.events->now();
  state_ = why;
}

void ChannelProtocol::stop_waiting() {
  if (state_ == State::kWaiting || state_ == State::kDraining)
    waited_ += context_.events->now() - waits_since_;
}

/// What is loaded and folded once is stored to every receiver.
void ChannelProtocol::begin(const Slice& slice) {
  const Step& s = steps_.step();
  gpu::Move first;
  first.bytes = slice.bytes;
  first.loads = s.loads();
  first.received = s.from.size();
  first.encoding = context_.encoding;
  if (flags_inside() && s.receives()) first.available = available();
  first.on_chip = context_.on_chip;
  first.lands = s.lands;
  first.stores_here = s.writes_output;
  first.client = this;
  place_loads(first, slice);
  copies_.clear();
  for (int i = 0; i < s.to.size(); ++i) {
    const UnderWay to{slice, i, steps_.outbound(slice.step, i).newest()};
    gpu::Move move = first;
    place_store(move, to);
    move.cookie = under_way_.take(to);
    if (i == 0) {
      first = move;
    } else {
      copies_.push_back(move);
    }
  }
  if (!s.sends()) first.cookie = under_way_.take({.slice = slice});
  stop_waiting();
  state_ = State::kMoving;
  path_->start(first, copies_);
}

std::uint64_t ChannelProtocol::slot_size() const {
  return bytes_of(context_.encoding.wire(max_slice(context_.tuning)));
}

/// Sets where the slice's data are read and, if they stay on this GPU, written.
void ChannelProtocol::place_loads(gpu::Move& move, const Slice& slice) {
  const Step& s = steps_.step();
  std::size_t n = 0;
  if (!s.landed) {
    for (int i = 0; i < s.from.size(); ++i) {
      const PacketConnection& in = steps_.inbound(slice.step, i);
      move.sources[n++] = {in.buffer, in.taken % steps_.slots() * slot_size()};
    }
  }
  const std::uint64_t output = context_.buffers->output(setup_.rank);
  if (s.uses_input)
    move.sources[n++] = {context_.buffers->input(setup_.rank), bytes_of(s.input_offset + slice.begin)};
  if (s.uses_held) move.sources[n++] = {output, bytes_of(s.held_offset + slice.begin)};
  move.here = {output, bytes_of(s.output_offset + slice.begin)};
}

/// Sets where one receiver gets the data: in a slot of its buffer, or in its output.
void ChannelProtocol::place_store(gpu::Move& move, const UnderWay& to) {
  const Step& s = steps_.step();
  const PacketConnection& out = steps_.outbound(to.slice.step, to.receiver);
  const std::uint64_t output_at = bytes_of(s.output_offset + to.slice.begin);
  const std::uint64_t slot_at = to.number % steps_.slots() * slot_size();
  move.to = gpu_of(out.to);
  move.address = s.lands ? output_at : out.address + slot_at;
  move.there =
      s.lands ? gpu::Place{context_.buffers->output(out.to), output_at} : gpu::Place{out.buffer, slot_at};
  if (!out.between_nodes()) return;
  // It is stored to a slot of this GPU's own memory, from where its NIC takes it.
  const gpu::Place here{out.send_buffer, slot_at};
  context_.net->expect(out.way, to.number, here, move.there, context_.encoding.wire(move.bytes), s.lands);
  move.to = gpu_of(setup_.rank);
  move.there = here;
}

/// Everything of the slice has been read.
void ChannelProtocol::move_issued(std::uint32_t) {
  steps_.taken(*this);
  advance();
}

void ChannelProtocol::give_back(PacketConnection& in, std::uint64_t number) {
  if (flags_inside()) in.landed[number % steps_.slots()].clear();
  ++context_.flags_under_way;
  if (in.between_nodes()) return context_.net->give_back(in.way);
  gpu_->signal(in.head_flag, gpu_of(in.from), path_->sender());
}

/// Gives a slice to the proxy.
void ChannelProtocol::hand_over(PacketConnection& out, std::uint64_t number, bool speaks) {
  context_.flags_under_way += 2;
  context_.net->announce(out.way, number, speaks);
}

void ChannelProtocol::announce(PacketConnection& out, std::uint64_t number) {
  if (out.between_nodes()) return hand_over(out, number, /*speaks=*/false);
  ++context_.flags_under_way;
  gpu_->signal(out.tail_flag, gpu_of(out.to), path_->sender());
}

void ChannelProtocol::step_ended(const Step& step) {
  if (context_.trace == nullptr) return;
  context_.trace->detail(setup_.trace_track, context_.trace->name(name_of(step)), step_started_,
                         context_.events->now());
  step_started_ = context_.events->now();
}

/// The writes are acknowledged. A spare warp fences before a flag may follow them, while the others go on.
void ChannelProtocol::move_complete(std::uint32_t cookie) {
  if (is_announced(under_way_[cookie]) && context_.fence > sim::Time{}) {
    context_.events->schedule(context_.events->now() + context_.fence, sim::Priority::kWork, *this,
                              kFenced | cookie);
  } else {
    close_slice(cookie);
  }
}

void ChannelProtocol::close_slice(std::uint32_t cookie) {
  const UnderWay& done = under_way_[cookie];
  if (done.receiver >= 0) {
    PacketConnection& out = steps_.outbound(done.slice.step, done.receiver);
    if (out.between_nodes() && steps_.speaks_for_itself(steps_.steps()[done.slice.step])) {
      hand_over(out, done.number, /*speaks=*/true);
    } else {
      steps_.complete(done.slice.step, done.receiver, done.number, *this);
    }
  }
  under_way_.give_back(cookie);
  if (state_ == State::kDraining) finish_if_drained();
}

void ChannelProtocol::finish_if_drained() {
  if (under_way_.used() > 0) return;
  stop_waiting();
  polled_ = path_->polled();
  state_ = State::kDone;
  --context_.channels_left;
  context_.settle();  // the last flags, which give slots back, come later
  owner_.channel_done(*this);
}

void ChannelProtocol::handle(std::uint32_t arg) {
  if ((arg & kFenced) != 0) {
    close_slice(arg & ~kFenced);
    return;
  }
  --context_.flags_under_way;
  PacketConnection& connection = context_.connections[arg / 2];
  if (arg % 2 == 0) {
    ++connection.arrived;
  } else {
    ++connection.freed;
  }
  if (state_ == State::kWaiting) {
    advance();
  } else {
    context_.settle();
  }
}

/// A piece of a slice that this channel sent has landed in the receiver's memory.
void ChannelProtocol::landed(std::uint32_t cookie, std::uint32_t wire_offset, std::uint32_t wire_bytes) {
  const UnderWay& moved = under_way_[cookie];
  PacketConnection& out = steps_.outbound(moved.slice.step, moved.receiver);
  Landed& slot = out.landed[moved.number % steps_.slots()];
  const std::uint32_t before = slot.up_to();
  slot.add(wire_offset, wire_bytes);
  if (slot.up_to() > before) out.receiver->see(out, moved.number);
}

void ChannelProtocol::see(const PacketConnection& connection, std::uint64_t number) {
  if (state_ != State::kMoving || connection.taken != number) return;
  const Step& s = steps_.step();
  for (int i = 0; i < s.from.size(); ++i) {
    if (&steps_.inbound(steps_.index(), i) == &connection) {
      path_->available(available());
      return;
    }
  }
}

/// How much data of the current slice has come in from every sender.
sim::Bytes ChannelProtocol::available() {
  sim::Bytes least{std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < steps_.step().from.size(); ++i) {
    const PacketConnection& in = steps_.inbound(steps_.index(), i);
    least = sim::min(least, context_.encoding.complete(in.landed[in.taken % steps_.slots()].up_to()));
  }
  return least;
}

std::string ChannelProtocol::why_waiting() const {
  if (state_ == State::kDone || state_ == State::kIdle) return {};
  std::string what;
  if (state_ == State::kWaiting) {
    const Wait wait = *steps_.waits<ChannelProtocol>();
    what = wait.what == Wait::What::kData ? fmt::format("waits for data from rank {}", wait.rank)
                                          : fmt::format("waits for rank {} to free a buffer slot", wait.rank);
  } else if (state_ == State::kMoving) {
    const Step& s = steps_.step();
    what = flags_inside() && s.receives() ? fmt::format("polls for data from rank {}", s.from[0])
                                          : "is moving data, some of which never arrived";
  } else {
    what = fmt::format("waits for {} slices to be acknowledged", under_way_.used());
  }
  if (steps_.at_end()) {
    return fmt::format("rank {} channel {} after its last step: {}", setup_.rank, setup_.channel, what);
  }
  return fmt::format("{}, slice at byte {}: {}",
                     place_of(setup_.rank, setup_.channel, steps_.steps(), steps_.index()),
                     steps_.begin().count(), what);
}

}  // namespace infold::coll
