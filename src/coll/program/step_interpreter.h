// The interpreter of program steps: it carries one rank's one channel through its steps, slice by slice, and
// knows what each slice waits for and which ranks it tells. How data move, and when, is up to a back end:
// packets (coll/engine/channel_protocol.h), a fluid (coll/tune/fluid_simulation.h), symbols
// (coll/program/symbolic_run.h).
//
// The protocol is NCCL's. A slice begins when data from every rank it receives from are there and every rank
// it sends to has a free slot. When all of it has been read, the slots it came from are given back and the
// next slice may begin. When it is visible at a receiver, that is announced, in order. Steps that are only
// flags pass at once. With LL and LL128 data carry their flags: they are not announced, the receiver sees
// them.
//
// Steps that switches do (Step::in_network) are not interpreted here, because in those all ranks act
// together. For packets they are in coll/in_network/in_network_executor and nvls_workgroup, which have waits
// of their own.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coll/program/chunking.h"
#include "coll/program/connection.h"
#include "coll/program/program.h"
#include "coll/program/wiring.h"
#include "sim/check.h"

namespace infold::coll {

/// Names a range of bytes of one step.
struct Slice {
  std::uint32_t step = 0;
  sim::Bytes begin;  ///< the offset within the step
  sim::Bytes bytes;
};

/// What a slice that cannot begin waits for.
struct Wait {
  enum class What : std::uint8_t { kData, kSlot };
  What what = What::kData;
  int rank = 0;  ///< the rank whose data are missing, or that has to free a slot

  bool operator==(const Wait&) const = default;
};

/// What a back end does for the interpreter. C is the type of its connections.
template <class B, class C>
concept StepBackend = std::derived_from<C, Connection> &&
    requires(B& b, C& connection, const Slice& slice, const Step& step, std::uint64_t number) {
  /// Whether what moves the data also polls for the flags inside them, so that such a slice begins before
  /// they have come.
  { B::kMovesPoll } -> std::convertible_to<bool>;
  /// Begins to move a slice, which is the `newest()` of every connection that it goes out on. The back end
  /// then calls `taken` once, when all of it has been read, and `complete` for every receiver.
  b.begin(slice);
  /// Passes a slice that moves no data; its flags follow at once.
  b.pass(slice);
  /// Tells the receiver that slice `number` and all before it are there, so its `arrived` has to grow.
  b.announce(connection, number);
  /// Tells the sender that the slot of slice `number` is free, so its `freed` has to grow.
  b.give_back(connection, number);
  /// Says that the last slice of a step has been taken.
  b.step_ended(step);
};

template <std::derived_from<Connection> C>
class StepInterpreter {
 public:
  /// Everything that it refers to must outlive the interpreter.
  struct Setup {
    const std::vector<Step>* steps = nullptr;
    const Wiring::Channel* wiring = nullptr;
    std::span<C> connections;  ///< those of the whole program
    const Tuning* tuning = nullptr;
    bool flags_inside = false;  ///< data carry their flags
  };
  explicit StepInterpreter(const Setup& setup)
      : setup_(setup), slots_(static_cast<std::uint64_t>(buffer_slots(*setup.tuning))) {
    INFOLD_CHECK(slots_ <= Connection::kMostSlots, "a connection has at most 64 slots");
  }

  enum class Took : std::uint8_t { kNothing, kFlags, kSlice };
  /// Takes up the next slice if there is one and everything that it needs is there. After kSlice the slice is
  /// being moved, and there must be no further call before it is taken.
  template <StepBackend<C> B>
  Took take_up(B& backend) {
    if (at_end() || waits<B>()) return Took::kNothing;
    const Step& s = step();
    const Slice slice = next();
    for (int i = 0; i < s.to.size(); ++i) {
      C& out = outbound(step_, i);
      const std::uint64_t number = out.sent++;
      if (speaks_for_itself(s))
        out.complete(number, true, [&](std::uint64_t n) { backend.announce(out, n); });
    }
    if (!s.only_flags()) {
      backend.begin(slice);
      return Took::kSlice;
    }
    backend.pass(slice);
    for (int i = 0; i < s.to.size(); ++i) complete(slice.step, i, outbound(step_, i).newest(), backend);
    taken(backend);
    return Took::kFlags;
  }

  /// Everything of the present slice has been read. Its slots are given back, and the next slice is due.
  template <StepBackend<C> B>
  void taken(B& backend) {
    const Step& s = step();
    const sim::Bytes bytes = next().bytes;
    for (int i = 0; i < s.from.size(); ++i) {
      C& in = inbound(step_, i);
      if (B::kMovesPoll && carries_flags(s)) ++in.arrived;  // so that flags are counted with the data
      const std::uint64_t number = in.taken++;
      backend.give_back(in, number);
    }
    begin_ += bytes;
    if (begin_ < s.bytes) return;
    backend.step_ended(s);
    begin_ = sim::Bytes{};
    ++step_;
  }

  /// Slice `number` of the connection to receiver `to` of a step has become visible there.
  template <StepBackend<C> B>
  void complete(std::uint32_t step, int to, std::uint64_t number, B& backend) {
    if (speaks_for_itself((*setup_.steps)[step])) return;
    C& out = outbound(step, to);
    out.complete(number, false, [&](std::uint64_t n) { backend.announce(out, n); });
  }

  /// What keeps the next slice from beginning: the first thing that is missing. Requires: not at the end.
  template <class B>
  std::optional<Wait> waits() const {
    const Step& s = step();
    if (!(B::kMovesPoll && carries_flags(s))) {
      for (int i = 0; i < s.from.size(); ++i) {
        const C& in = inbound(step_, i);
        if (!in.has_data()) return Wait{Wait::What::kData, in.from};
      }
    }
    for (int i = 0; i < s.to.size(); ++i) {
      const C& out = outbound(step_, i);
      if (!out.has_room(slots_)) return Wait{Wait::What::kSlot, out.to};
    }
    return std::nullopt;
  }

  /// Goes on to the next step without a slice, after switches have done the present one.
  void skip_step() { ++step_; }

  bool at_end() const { return step_ == setup_.steps->size(); }
  std::uint32_t index() const { return step_; }
  /// The offset of the next slice, or of the one being moved, within the step.
  sim::Bytes begin() const { return begin_; }
  std::uint64_t slots() const { return slots_; }
  const std::vector<Step>& steps() const { return *setup_.steps; }
  /// Requires: not at the end.
  const Step& step() const { return (*setup_.steps)[step_]; }
  /// The next slice, or the one being moved.
  Slice next() const {
    const Step& s = step();
    return {step_, begin_, sim::min(slice_of(*setup_.tuning, s.bytes), s.bytes - begin_)};
  }
  /// Whether the receiver sees the data themselves arrive, instead of a flag behind them.
  bool carries_flags(const Step& s) const { return setup_.flags_inside && !s.only_flags(); }
  /// Whether its receivers see what it sends arrive, so that no flag follows.
  bool speaks_for_itself(const Step& s) const { return carries_flags(s) && !s.lands; }

  C& inbound(std::uint32_t step, int i) { return setup_.connections[number_of(step, i)]; }
  const C& inbound(std::uint32_t step, int i) const { return setup_.connections[number_of(step, i)]; }
  C& outbound(std::uint32_t step, int i) { return inbound(step, (*setup_.steps)[step].from.size() + i); }
  const C& outbound(std::uint32_t step, int i) const {
    return inbound(step, (*setup_.steps)[step].from.size() + i);
  }

 private:
  std::uint32_t number_of(std::uint32_t step, int i) const {
    return setup_.wiring->connections[setup_.wiring->first[step] + static_cast<std::uint32_t>(i)];
  }

  Setup setup_;
  std::uint64_t slots_;
  std::uint32_t step_ = 0;
  sim::Bytes begin_;
};

}  // namespace infold::coll
