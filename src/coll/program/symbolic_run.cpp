// Symbolic execution of programs, slice by slice.
#include "coll/program/symbolic_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace infold::coll {

SymbolicRun::SymbolicRun(const Program& program)
    : program_(program),
      sizes_(buffer_sizes(program.collective, program.bytes, program.ranks)),
      slots_(static_cast<std::size_t>(buffer_slots(program.tuning))),
      wiring_(program),
      sets_(program.ranks),
      memory_(static_cast<std::size_t>(program.ranks)),
      connections_(wiring_.connections().size()) {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    connections_[i].from = wiring_.connections()[i].from;
    connections_[i].to = wiring_.connections()[i].to;
    connections_[i].slots.resize(slots_);
  }
  channels_.reserve(program.lists.size());
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      // To symbols, data that carry their flags are the same as data with a flag behind them.
      StepInterpreter<SymbolicConnection> steps({.steps = &program.steps(rank, channel),
                                                 .wiring = &wiring_.channel(index_of(rank, channel)),
                                                 .connections = connections_,
                                                 .tuning = &program.tuning,
                                                 .flags_inside = false});
      channels_.push_back({rank, channel, sets_.only(rank), steps});
    }
  }
}

std::optional<Flaw> SymbolicRun::run() {
  for (Channel& c : channels_) ready_.push_back(&c);
  while (!ready_.empty()) {
    Channel& c = *ready_.front();
    ready_.pop_front();
    c.queued = false;
    while (go(c)) {
      if (flaw_) return flaw_;
    }
  }
  if (auto flaw = stuck()) return flaw;
  return left_over();
}

void SymbolicRun::wake(int rank, int channel) {
  Channel& c = channels_[index_of(rank, channel)];
  if (!c.queued) ready_.push_back(&c);
  c.queued = true;
}

/// Carries out the next slice if it waits for nothing, and has the channels look again that may have waited
/// for it.
bool SymbolicRun::go(Channel& c) {
  if (c.steps.at_end()) return false;
  const Step& s = c.steps.step();
  if (s.in_network()) {
    if (waits(c)) return false;
    flaw_ = do_in_network(c);
    return true;
  }
  Backend backend{*this, c};
  if (c.steps.take_up(backend) == StepInterpreter<SymbolicConnection>::Took::kNothing) return false;
  for (int from : s.from) wake(from, c.channel);
  for (int to : s.to) wake(to, c.channel);
  return true;
}

void SymbolicRun::Backend::begin(const Slice& slice) {
  pass(slice);
  const int receivers = channel.steps.step().to.size();
  for (int i = 0; i < receivers; ++i)
    channel.steps.complete(slice.step, i, channel.steps.outbound(slice.step, i).newest(), *this);
  channel.steps.taken(*this);
}

std::optional<Flaw> SymbolicRun::carry_out(Channel& c, const Slice& slice) {
  const Step& s = c.steps.step();
  Runs value;
  bool first = true;
  if (auto f = receive(c, slice, value, first)) return f;
  if (!s.only_flags()) {
    if (auto f = use_own(c, slice, value, first)) return f;
    for (Run& run : value) {
      if (s.finishes && run.finished) return flaw(c, "completes a value that is complete already");
      run.finished = run.finished || s.finishes;
    }
    const bool in_place = s.uses_held && s.held_offset == s.output_offset;
    if (s.writes_output) {
      if (auto f = store(c, c.rank, s.output_offset + slice.begin, value, in_place)) return f;
    }
  }
  for (int i = 0; i < s.to.size(); ++i) {
    if (s.lands && !sets_.contains(c.heard_from, s.to[i]))
      return flaw(c, fmt::format("stores into the output of rank {}, which may not have begun yet", s.to[i]));
    SymbolicConnection& out = c.steps.outbound(slice.step, i);
    out.slots[out.newest() % slots_] = {value, c.heard_from, slice.step};
  }
  return std::nullopt;
}

std::optional<Flaw> SymbolicRun::receive(Channel& c, const Slice& slice, Runs& value, bool& first) {
  const Step& s = c.steps.step();
  for (int i = 0; i < s.from.size(); ++i) {
    const SymbolicConnection& in = c.steps.inbound(slice.step, i);
    const Message& message = in.slots[in.taken % slots_];
    if (auto f = unlike(c, in.from, message)) return f;
    c.heard_from = sets_.unite(c.heard_from, message.heard_from);
    if (s.landed) {
      const Step& put = program_.steps(in.from, c.channel)[message.step];
      if (auto f = store(c, c.rank, put.output_offset + slice.begin, message.runs, false)) return f;
    } else if (auto f = combine(c, value, message.runs, first)) {
      return f;
    }
  }
  return std::nullopt;
}

/// Checks that sender and receiver mean the same step.
std::optional<Flaw> SymbolicRun::unlike(const Channel& c, int from, const Message& message) const {
  const Step& s = c.steps.step();
  const Step& sent = program_.steps(from, c.channel)[message.step];
  if (sent.bytes != s.bytes) {
    return flaw(c, fmt::format("receives {} bytes from rank {}, whose step {} sends {}", s.bytes.count(),
                               from, message.step + 1, sent.bytes.count()));
  }
  if (sent.lands != s.landed) {
    return flaw(c,
                fmt::format("looks for what rank {} sends in its step {} in {}", from, message.step + 1,
                            s.landed ? "its output, where it is not" : "a buffer, but it is in the output"));
  }
  return std::nullopt;
}

std::optional<Flaw> SymbolicRun::use_own(const Channel& c, const Slice& slice, Runs& value, bool& first) {
  const Step& s = c.steps.step();
  const sim::Bytes bytes = slice.bytes;
  if (s.uses_input) {
    const Run own{bytes.count(), (s.input_offset + slice.begin).count(), sets_.only(c.rank), false};
    if (auto f = combine(c, value, {own}, first)) return f;
  }
  if (!s.uses_held) return std::nullopt;
  Runs held;
  const std::int64_t begin = (s.held_offset + slice.begin).count();
  for (std::int64_t at = begin; at < begin + bytes.count();) {
    const auto cell = memory_[static_cast<std::size_t>(c.rank)].read(at, begin + bytes.count() - at);
    if (!cell) return flaw(c, fmt::format("reads byte {} of its output, which was not written", at));
    if (cell->channel != c.channel)
      return flaw(c, fmt::format("reads byte {} of its output, which channel {} writes at a time of its own",
                                 at, cell->channel));
    append(held, cell->run);
    at += cell->run.bytes;
  }
  return combine(c, value, held, first);
}

std::optional<Flaw> SymbolicRun::combine(const Channel& c, Runs& value, const Runs& with, bool& first) {
  if (first) {
    value = with;
    first = false;
    return std::nullopt;
  }
  const auto f = fold_runs(sets_, value, with);
  if (!f) return std::nullopt;
  switch (f->kind) {
    case FoldFlaw::kPlaces:
      return flaw(
          c, fmt::format("folds byte {} of one input with byte {} of another", f->one.place, f->other.place));
    case FoldFlaw::kTwice:
      return flaw(c, fmt::format("counts rank {} twice in byte {}",
                                 sets_.first_of_both(f->one.who, f->other.who), f->one.place));
    case FoldFlaw::kFinished:
      break;
  }
  return flaw(c, fmt::format("folds byte {}, which is complete already", f->one.place));
}

/// A partial sum may be written over by the workgroup that held it; a result may not.
std::optional<Flaw> SymbolicRun::store(const Channel& c, int rank, sim::Bytes at, const Runs& runs,
                                       bool in_place) {
  Memory& memory = memory_[static_cast<std::size_t>(rank)];
  std::int64_t end = at.count();
  for (const Run& run : runs) end += run.bytes;
  const std::int64_t guarded = std::min(end, sizes_.output.count());  // scratch memory may be used again
  for (std::int64_t i = at.count(); !in_place && i < guarded;) {
    const std::int64_t written = memory.first_written(i, guarded - i);
    if (written < 0) break;
    const auto cell = memory.read(written, guarded - written);
    const bool sum = reduces(program_.collective) && !cell->run.finished && !c.steps.step().landed;
    if (!sum || cell->channel != c.channel)
      return flaw(c, fmt::format("writes byte {} of its output a second time", written));
    i = written + cell->run.bytes;
  }
  memory.write(at.count(), runs, c.channel);
  return std::nullopt;
}

RankSets::Id SymbolicRun::heard_from(int rank) {
  RankSets::Id heard = sets_.only(rank);
  for (int c = 0; c < program_.channels; ++c)
    heard = sets_.unite(heard, channels_[index_of(rank, c)].heard_from);
  return heard;
}

}  // namespace infold::coll
