// The protocols, slice by slice.
#include "coll/engine/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "coll/program/chunking.h"
#include "sim/check.h"

namespace infold::coll {

namespace {
std::uint64_t bytes_of(sim::Bytes b) {
  return static_cast<std::uint64_t>(b.count());
}
}  // namespace

Runner::Runner(Setup setup, const RunnerContext& context, RunnerOwner& owner)
    : setup_(std::move(setup)),
      context_(context),
      owner_(owner),
      slots_(static_cast<std::uint64_t>(buffer_slots(context.tuning))),
      encoding_(context.encoding) {}

void Runner::start(gpu::Gpu& gpu, gpu::DataPath& path) {
  gpu_ = &gpu;
  path_ = &path;
  step_started_ = context_.events->now();
  advance();
}

/// Begins the next slice if everything it needs is there; otherwise a flag will call again.
void Runner::advance() {
  while (step_ < setup_.steps->size()) {
    if (!can_begin()) return;
    if (!step().only_flags()) {
      begin_slice();
      return;
    }
    pass_flags();
  }
  wait(State::kDraining);
  finish_if_drained();
}

void Runner::wait(State why) {
  if (state_ == State::kIdle || state_ == State::kMoving) waits_since_ = context_.events->now();
  state_ = why;
}

void Runner::stop_waiting() {
  if (state_ == State::kNeedsData || state_ == State::kNeedsSlot || state_ == State::kDraining)
    waited_ += context_.events->now() - waits_since_;
}

bool Runner::can_begin() {
  const Step& s = step();
  for (int i = 0; i < s.from.size(); ++i) {
    if (flags_inside() && !s.only_flags()) break;  // the workgroup itself polls for the data
    const Connection& in = inbound(step_, i);
    if (in.arrived > in.taken) continue;
    wait(State::kNeedsData);
    waits_for_ = in.from;
    return false;
  }
  for (int i = 0; i < s.to.size(); ++i) {
    const Connection& out = outbound(step_, i);
    if (out.sent - out.freed < slots_) continue;
    wait(State::kNeedsSlot);
    waits_for_ = out.to;
    return false;
  }
  return true;
}

/// What is loaded and folded once is stored to every receiver.
void Runner::begin_slice() {
  const Step& s = step();
  Slice slice{.step = step_,
              .begin = begin_,
              .bytes = sim::min(slice_of(context_.tuning, s.bytes), s.bytes - begin_)};
  gpu::Move first;
  first.bytes = slice.bytes;
  first.loads = s.loads();
  first.received = s.from.size();
  first.encoding = encoding_;
  if (flags_inside() && s.receives()) first.available = available();
  first.on_chip = context_.on_chip;
  first.lands = s.lands;
  first.stores_here = s.writes_output;
  first.client = this;
  place_loads(first, s);
  copies_.clear();
  for (int i = 0; i < s.to.size(); ++i) {
    Connection& out = outbound(step_, i);
    slice.receiver = i;
    slice.out_number = out.sent++;
    if (speaks_for_itself(s)) pass_unannounced(out, slice.out_number);
    gpu::Move move = first;
    move.to = gpu_of(out.to);
    const std::uint64_t slot = bytes_of(encoding_.wire(max_slice(context_.tuning)));
    const std::uint64_t output_at = bytes_of(s.output_offset + begin_);
    const std::uint64_t slot_at = slice.out_number % slots_ * slot;
    move.address = s.lands ? output_at : out.address + slot_at;
    move.there =
        s.lands ? gpu::Place{context_.buffers->output(out.to), output_at} : gpu::Place{out.buffer, slot_at};
    move.cookie = open_slice(slice);
    if (i == 0) {
      first = move;
    } else {
      copies_.push_back(move);
    }
  }
  if (!s.sends()) first.cookie = open_slice(slice);
  stop_waiting();
  state_ = State::kMoving;
  path_->start(first, copies_);
}

/// Where the slice's data are read and, if they stay here, written.
void Runner::place_loads(gpu::Move& move, const Step& s) {
  const std::uint64_t slot = bytes_of(encoding_.wire(max_slice(context_.tuning)));
  std::size_t n = 0;
  if (!s.landed) {
    for (int i = 0; i < s.from.size(); ++i) {
      const Connection& in = inbound(step_, i);
      move.sources[n++] = {in.buffer, in.taken % slots_ * slot};
    }
  }
  const std::uint64_t output = context_.buffers->output(setup_.rank);
  if (s.uses_input)
    move.sources[n++] = {context_.buffers->input(setup_.rank), bytes_of(s.input_offset + begin_)};
  if (s.uses_held) move.sources[n++] = {output, bytes_of(s.held_offset + begin_)};
  move.here = {output, bytes_of(s.output_offset + begin_)};
}

std::uint32_t Runner::open_slice(const Slice& slice) {
  if (free_cookies_.empty()) {
    free_cookies_.push_back(static_cast<std::uint32_t>(under_way_.size()));
    under_way_.emplace_back();
  }
  const std::uint32_t cookie = free_cookies_.back();
  free_cookies_.pop_back();
  under_way_[cookie] = slice;
  ++open_;
  return cookie;
}

/// A slice of which nothing passes through the workgroup.
void Runner::pass_flags() {
  const Step& s = step();
  for (int i = 0; i < s.to.size(); ++i) {
    Connection& out = outbound(step_, i);
    out.complete[out.sent++ % slots_] = true;
    announce(out);
  }
  slice_taken(sim::min(slice_of(context_.tuning, s.bytes), s.bytes - begin_));
}

/// Everything of the slice has been read: its slots can be given back and the next slice taken up.
void Runner::move_issued(std::uint32_t cookie) {
  slice_taken(under_way_[cookie].bytes);
  advance();
}

void Runner::slice_taken(sim::Bytes bytes) {
  const Step& s = step();
  for (int i = 0; i < s.from.size(); ++i) {
    Connection& in = inbound(step_, i);
    if (flags_inside()) {
      in.landed[in.taken % slots_].clear();
      if (!s.only_flags()) ++in.arrived;  // so that flags are counted with the data
    }
    ++in.taken;
    gpu_->signal(in.head_flag, gpu_of(in.from), path_->sender());
  }
  begin_ += bytes;
  if (begin_ < s.bytes) return;
  if (context_.trace != nullptr) {
    context_.trace->detail(setup_.trace_track, context_.trace->name(name_of(s)), step_started_,
                           context_.events->now());
    step_started_ = context_.events->now();
  }
  begin_ = sim::Bytes{};
  ++step_;
}

/// The writes are acknowledged. Before a flag may follow them a spare warp fences, while the others go on.
void Runner::move_complete(std::uint32_t cookie) {
  const Slice& slice = under_way_[cookie];
  if (slice.receiver >= 0 && !speaks_for_itself((*setup_.steps)[slice.step]) &&
      context_.fence > sim::Time{}) {
    context_.events->schedule(context_.events->now() + context_.fence, sim::Priority::kWork, *this,
                              kFenced | cookie);
  } else {
    close_slice(cookie);
  }
}

void Runner::close_slice(std::uint32_t cookie) {
  const Slice& slice = under_way_[cookie];
  if (slice.receiver >= 0 && !speaks_for_itself((*setup_.steps)[slice.step])) {
    Connection& out = outbound(slice.step, slice.receiver);
    out.complete[slice.out_number % slots_] = true;
    announce(out);
  }
  free_cookies_.push_back(cookie);
  --open_;
  if (state_ == State::kDraining) finish_if_drained();
}

/// A flag says "everything up to here": slices that became visible early wait for the ones before them.
void Runner::announce(Connection& out) {
  while (out.announced < out.sent && out.complete[out.announced % slots_]) {
    out.complete[out.announced % slots_] = false;
    const bool silent = out.silent[out.announced % slots_];
    out.silent[out.announced % slots_] = false;
    ++out.announced;
    if (!silent) gpu_->signal(out.tail_flag, gpu_of(out.to), path_->sender());
  }
}

/// Data that carry their flags need no other; those before them that do may still wait for theirs.
void Runner::pass_unannounced(Connection& out, std::uint64_t number) {
  out.complete[number % slots_] = true;
  out.silent[number % slots_] = true;
  announce(out);
}

void Runner::finish_if_drained() {
  if (open_ > 0) return;
  stop_waiting();
  polled_ = path_->polled();
  state_ = State::kDone;
  owner_.runner_done(*this);
}

void Runner::handle(std::uint32_t arg) {
  if ((arg & kFenced) != 0) {
    close_slice(arg & ~kFenced);
    return;
  }
  Connection& connection = (*context_.connections)[arg / 2];
  if (arg % 2 == 0) {
    ++connection.arrived;
  } else {
    ++connection.freed;
  }
  if (state_ == State::kNeedsData || state_ == State::kNeedsSlot) advance();
}

/// At the receiver's memory: a piece of a slice that this runner sent has landed.
void Runner::landed(std::uint32_t cookie, std::uint32_t wire_offset, std::uint32_t wire_bytes) {
  const Slice& slice = under_way_[cookie];
  Connection& out = outbound(slice.step, slice.receiver);
  Landed& slot = out.landed[slice.out_number % slots_];
  const std::uint32_t before = slot.up_to();
  slot.add(wire_offset, wire_bytes);
  if (slot.up_to() > before) out.receiver->see(out, slice.out_number);
}

/// More of slice `number` of an inbound connection is there. If it is the one being received, go on.
void Runner::see(const Connection& connection, std::uint64_t number) {
  if (state_ != State::kMoving || connection.taken != number) return;
  const Step& s = step();
  for (int i = 0; i < s.from.size(); ++i) {
    if (&inbound(step_, i) == &connection) {
      path_->available(available());
      return;
    }
  }
}

/// Data of the current slice that have come in from every sender.
sim::Bytes Runner::available() {
  sim::Bytes least{std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < step().from.size(); ++i) {
    const Connection& in = inbound(step_, i);
    least = sim::min(least, encoding_.complete(in.landed[in.taken % slots_].up_to()));
  }
  return least;
}

/// The slots that the slice reads are those next to be taken: it is issued before any other is begun.
void Runner::produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) {
  const Slice& slice = under_way_[cookie];
  const Step& s = (*setup_.steps)[slice.step];
  Values& values = *context_.values;
  const auto at = static_cast<std::size_t>(slice.begin.count()) + offset;  // within the step
  bool first = true;
  const auto combine = [&](std::span<const std::byte> with) {
    if (first) {
      std::ranges::copy(with, out.begin());
    } else {
      fold(values.type(), values.op(), out, with);
    }
    first = false;
  };
  for (int i = 0; i < s.from.size(); ++i) {
    const Connection& in = inbound(slice.step, i);
    combine(std::span<const std::byte>(in.values[in.taken % slots_]).subspan(offset, out.size()));
  }
  const auto place = [&](sim::Bytes begin) { return static_cast<std::size_t>(begin.count()) + at; };
  if (s.uses_input) combine(values.input(setup_.rank).subspan(place(s.input_offset), out.size()));
  if (s.uses_held) combine(values.memory(setup_.rank).subspan(place(s.held_offset), out.size()));
  if (s.finishes && values.op() == ReduceOp::kAvg) divide(values.type(), out, values.ranks());
  if (s.writes_output) {
    std::ranges::copy(
        out, values.memory(setup_.rank).begin() + static_cast<std::ptrdiff_t>(place(s.output_offset)));
  }
}

void Runner::consume(std::uint32_t cookie, std::uint32_t offset, std::span<const std::byte> arrived) {
  const Slice& slice = under_way_[cookie];
  const Step& s = (*setup_.steps)[slice.step];
  Connection& out = outbound(slice.step, slice.receiver);
  if (s.lands) {
    std::ranges::copy(
        arrived, context_.values->memory(out.to).begin() + (s.output_offset + slice.begin).count() + offset);
    return;
  }
  std::vector<std::byte>& slot = out.values[slice.out_number % slots_];
  if (slot.size() < offset + arrived.size()) slot.resize(static_cast<std::size_t>(slice.bytes.count()));
  std::ranges::copy(arrived, slot.begin() + offset);
}

std::string Runner::why_waiting() const {
  if (state_ == State::kDone || state_ == State::kIdle) return {};
  std::string what;
  switch (state_) {
    case State::kNeedsData:
      what = fmt::format("waits for data from rank {}", waits_for_);
      break;
    case State::kNeedsSlot:
      what = fmt::format("waits for rank {} to free a buffer slot", waits_for_);
      break;
    case State::kMoving:
      what = flags_inside() && step().receives() ? fmt::format("polls for data from rank {}", step().from[0])
                                                 : "is moving data, some of which never arrived";
      break;
    default:
      what = fmt::format("waits for {} slices to be acknowledged", open_);
      break;
  }
  if (step_ == setup_.steps->size()) {
    return fmt::format("rank {} channel {} after its last step: {}", setup_.rank, setup_.channel, what);
  }
  return fmt::format("rank {} channel {} step {} of {} ({}), slice at byte {}: {}", setup_.rank,
                     setup_.channel, step_ + 1, setup_.steps->size(), name_of(step()), begin_.count(), what);
}

}  // namespace infold::coll
