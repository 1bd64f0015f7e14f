// The Simple protocol, slice by slice.
#include "coll/runner.h"

#include <fmt/format.h>

#include <cstring>

#include "coll/chunking.h"
#include "sim/check.h"

namespace infold::coll {

Runner::Runner(Setup setup, const RunnerContext& context, RunnerOwner& owner)
    : setup_(std::move(setup)),
      context_(context),
      owner_(owner),
      slots_(static_cast<std::uint64_t>(buffer_slots(context.tuning))) {}

void Runner::start(gpu::Gpu& gpu, gpu::Mover& mover) {
  gpu_ = &gpu;
  mover_ = &mover;
  step_started_ = context_.events->now();
  advance();
}

/// Begins the next slice if everything it needs is there; otherwise a flag will call again.
void Runner::advance() {
  if (step_ == setup_.steps->size()) {
    state_ = State::kDraining;
    finish_if_drained();
    return;
  }
  if (step().receives()) {
    const Connection& in = inbound(step_);
    if (in.arrived == in.taken) {
      state_ = State::kNeedsData;
      return;
    }
  }
  if (step().sends()) {
    const Connection& out = outbound(step_);
    if (out.sent - out.freed == slots_) {
      state_ = State::kNeedsSlot;
      return;
    }
  }
  begin_slice();
}

void Runner::begin_slice() {
  const Step& s = step();
  Slice slice{.step = step_,
              .begin = begin_,
              .bytes = sim::min(slice_of(context_.tuning, s.bytes), s.bytes - begin_)};
  gpu::Move move;
  move.bytes = slice.bytes;
  move.loads = s.loads();
  move.stores_here = s.writes_output;
  move.client = this;
  if (s.receives()) slice.in_slot = inbound(step_).taken % slots_;
  if (s.sends()) {
    Connection& out = outbound(step_);
    slice.out_number = out.sent++;
    move.to = gpu_of(s.to);
    move.address = out.address +
                   slice.out_number % slots_ * static_cast<std::uint64_t>(max_slice(context_.tuning).count());
  }
  if (free_cookies_.empty()) {
    free_cookies_.push_back(static_cast<std::uint32_t>(under_way_.size()));
    under_way_.emplace_back();
  }
  move.cookie = free_cookies_.back();
  free_cookies_.pop_back();
  under_way_[move.cookie] = slice;
  ++open_;
  state_ = State::kMoving;
  mover_->start(move);
}

/// Everything of the slice has been read: its slot can be given back and the next slice taken up.
void Runner::move_issued(std::uint32_t cookie) {
  const Slice& slice = under_way_[cookie];
  const Step& s = step();
  if (s.receives()) {
    Connection& in = inbound(step_);
    ++in.taken;
    gpu_->signal(in.head_flag, gpu_of(s.from), mover_->sender());
  }
  begin_ += slice.bytes;
  if (begin_ == s.bytes) {
    if (context_.trace != nullptr) {
      context_.trace->span(setup_.trace_track, step_, step_started_, context_.events->now());
      step_started_ = context_.events->now();
    }
    begin_ = sim::Bytes{};
    ++step_;
  }
  advance();
}

void Runner::move_complete(std::uint32_t cookie) {
  const Slice& slice = under_way_[cookie];
  if ((*setup_.steps)[slice.step].sends()) {
    Connection& out = outbound(slice.step);
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
    ++out.announced;
    gpu_->signal(out.tail_flag, gpu_of(out.to), mover_->sender());
  }
}

void Runner::finish_if_drained() {
  if (open_ > 0) return;
  state_ = State::kDone;
  owner_.runner_done(*this);
}

void Runner::handle(std::uint32_t arg) {
  Connection& connection = (*context_.connections)[arg / 2];
  if (arg % 2 == 0) {
    ++connection.arrived;
  } else {
    ++connection.freed;
  }
  if (state_ == State::kNeedsData || state_ == State::kNeedsSlot) advance();
}

void Runner::produce(std::uint32_t cookie, std::uint32_t offset, std::span<std::byte> out) {
  const Slice& slice = under_way_[cookie];
  const Step& s = (*setup_.steps)[slice.step];
  Values& values = *context_.values;
  const auto at = static_cast<std::size_t>(slice.begin.count()) + offset;  // within the step
  const auto input = [&] {
    return values.input(setup_.rank)
        .subspan(static_cast<std::size_t>(s.input_offset.count()) + at, out.size());
  };
  if (s.receives()) {
    std::memcpy(out.data(), inbound(slice.step).values[slice.in_slot].data() + offset, out.size());
    if (s.uses_input) fold(values.type(), values.op(), out, input());
  } else {
    std::memcpy(out.data(), input().data(), out.size());
  }
  if (s.finishes && values.op() == ReduceOp::kAvg) divide(values.type(), out, values.ranks());
  if (s.writes_output) {
    const auto to = static_cast<std::size_t>(s.output_offset.count()) + at;
    std::memcpy(values.output(setup_.rank).subspan(to, out.size()).data(), out.data(), out.size());
  }
}

void Runner::consume(std::uint32_t cookie, std::uint32_t offset, std::span<const std::byte> arrived) {
  const Slice& slice = under_way_[cookie];
  std::vector<std::byte>& slot = outbound(slice.step).values[slice.out_number % slots_];
  if (slot.size() < offset + arrived.size()) slot.resize(static_cast<std::size_t>(slice.bytes.count()));
  std::memcpy(slot.data() + offset, arrived.data(), arrived.size());
}

std::string Runner::why_waiting() const {
  if (state_ == State::kDone || state_ == State::kIdle) return {};
  std::string what;
  switch (state_) {
    case State::kNeedsData:
      what = fmt::format("waits for data from rank {}", step().from);
      break;
    case State::kNeedsSlot:
      what = fmt::format("waits for rank {} to free a buffer slot", step().to);
      break;
    case State::kMoving:
      what = "is moving data, some of which never arrived";
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
