// Checks one step at a time.
#include "coll/program/step_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "coll/program/chunking.h"

namespace infold::coll {

namespace {

std::string wrong_peers(const Peers& peers, int self, int ranks, const char* verb) {
  for (const auto* p = peers.begin(); p != peers.end(); ++p) {
    if (*p < 0 || *p >= ranks) return fmt::format("{} rank {}, and there are {} ranks", verb, *p, ranks);
    if (*p == self) return fmt::format("{} its own rank", verb);
    if (std::find(peers.begin(), p, *p) != p) return fmt::format("{} rank {} twice", verb, *p);
  }
  return {};
}

std::string beyond(const char* what, sim::Bytes begin, sim::Bytes bytes, sim::Bytes size) {
  // The sum begin + bytes is avoided, because a file may hold numbers so large that it would overflow.
  if (begin >= sim::Bytes{} && begin <= size && bytes <= size - begin) return {};
  return fmt::format("{} bytes from byte {} on, and there are {}", what, begin.count(), size.count());
}

std::string wrong_flags(const Step& s) {
  if (!s.receives() && !s.sends() && !s.writes_output) return "does nothing";
  if (s.landed &&
      (!s.receives() || s.sends() || s.uses_input || s.uses_held || s.writes_output || s.finishes))
    return "waits for what lands in its output, and can do nothing else";
  if (s.lands && !s.sends()) return "puts data into outputs, but names no rank";
  if (s.bytes == sim::Bytes{}) {
    const bool data = s.uses_input || s.uses_held || s.writes_output || s.finishes || s.lands || s.landed;
    return data ? "has no bytes to work on" : "";
  }
  if (!s.landed && s.loads() == 0) return "has no value: nothing received, no input, nothing held";
  return {};
}

std::string wrong_in_network(const Step& s, const Program& p, const BufferSizes& sizes) {
  if (s.receives() || s.sends() || s.uses_held || s.lands || s.landed)
    return "is done by switches, and cannot send or receive as well";
  if (s.net == NetOp::kMeet) return s.bytes == sim::Bytes{} ? "" : "only meets, and moves no bytes";
  if (p.engine == Engine::kSm && s.net == NetOp::kReduceWrite) return "is pushed, which no SM does";
  if (s.stage.count() % kVector != 0) return "is staged in chunks that cut an access in two";
  if (auto what = beyond("stages", {}, s.stage * (std::int64_t{p.tuning.nvls.slots} * p.ranks * p.channels),
                         p.scratch);
      !what.empty())
    return what;
  if (s.bytes == sim::Bytes{}) return "has no bytes to work on";
  if (s.finishes != (s.net != NetOp::kMulticast)) return "completes a sum if and only if there is one";
  if (s.net == NetOp::kMulticast && s.who == NetWho::kAll) return "multicasts the input of everybody";
  if (s.who == NetWho::kExperts) {
    const Collective wanted = s.net == NetOp::kMulticast ? Collective::kDispatch : Collective::kCombine;
    if (p.collective != wanted) return fmt::format("is part of {} only", sim::name_of(wanted));
    if (p.engine != Engine::kCollectiveEngine) return "is done by collective engines only";
    const bool whole = s.bytes == p.bytes && s.stride == p.bytes / p.ranks;
    if (!whole || s.input_offset != sim::Bytes{} || s.output_offset != sim::Bytes{})
      return "is not about all tokens";
    return {};
  }
  if (s.who != NetWho::kOwner) {
    auto what = beyond("reads input", s.input_offset, s.bytes, sizes.input);
    return what.empty() ? beyond("writes output", s.output_offset, s.bytes, sizes.output) : what;
  }
  if (s.bytes.count() % p.ranks != 0) return fmt::format("has no equal share for {} ranks", p.ranks);
  const sim::Bytes share = s.bytes / p.ranks;
  if (s.stride < share || s.stride > sizes.input + sizes.output)
    return "has shares that overlap or lie far off";
  const bool gather = s.net == NetOp::kMulticast;
  const sim::Bytes all = s.stride * (p.ranks - 1) + share;
  auto what = beyond("reads input", s.input_offset, gather ? share : all, sizes.input);
  return what.empty() ? beyond("writes output", s.output_offset, gather ? all : share, sizes.output) : what;
}

/// Switches act for all ranks: each must ask the same of them, in the same order.
std::optional<Flaw> find_odd_one_out(const Program& p) {
  if (!p.in_network()) {
    return p.engine == Engine::kCollectiveEngine && !p.lists.front().empty()
               ? std::optional(Flaw{0, 0, 0, "is not done by switches, which is all that this engine does"})
               : std::nullopt;
  }
  if (p.engine == Engine::kCollectiveEngine && p.channels != 1)
    return Flaw{-1, -1, -1, fmt::format("a collective engine has one channel, not {}", p.channels)};
  for (int channel = 0; channel < p.channels; ++channel) {
    const auto& first = p.steps(0, channel);
    if (p.engine == Engine::kSm && first.size() != 1)
      return Flaw{0, channel, -1, fmt::format("a workgroup does one step by switches, not {}", first.size())};
    for (int rank = 0; rank < p.ranks; ++rank) {
      const auto& list = p.steps(rank, channel);
      if (list.size() != first.size())
        return Flaw{rank, channel, -1,
                    fmt::format("has {} steps, and rank 0 has {}", list.size(), first.size())};
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].in_network())
          return Flaw{rank, channel, static_cast<int>(i), "is not done by switches, as other steps are"};
        if (list[i] != first[i])
          return Flaw{rank, channel, static_cast<int>(i), "asks something else of the switches than rank 0"};
      }
    }
  }
  return std::nullopt;
}

std::string senseless(const Step& s, int rank, const Program& p, const BufferSizes& sizes) {
  if (s.bytes < sim::Bytes{}) return "has a negative number of bytes";
  if (s.in_network()) return wrong_in_network(s, p, sizes);
  if (auto what = wrong_peers(s.from, rank, p.ranks, "receives from"); !what.empty()) return what;
  if (auto what = wrong_peers(s.to, rank, p.ranks, "sends to"); !what.empty()) return what;
  if (auto what = wrong_flags(s); !what.empty()) return what;
  if (s.uses_input) {
    auto what = beyond("reads input", s.input_offset, s.bytes, sizes.input);
    if (!what.empty()) return what;
  }
  if (s.uses_held) {
    auto what = beyond("reads output", s.held_offset, s.bytes, sizes.output + p.scratch);
    if (!what.empty()) return what;
  }
  if (s.writes_output || s.lands)
    return beyond("writes output", s.output_offset, s.bytes, sizes.output + p.scratch);
  return {};
}

}  // namespace

std::optional<Flaw> find_senseless_step(const Program& program) {
  const BufferSizes sizes = buffer_sizes(program.collective, program.bytes, program.ranks);
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      const auto& list = program.steps(rank, channel);
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (auto what = senseless(list[i], rank, program, sizes); !what.empty())
          return Flaw{rank, channel, static_cast<int>(i), std::move(what)};
      }
    }
  }
  return find_odd_one_out(program);
}

}  // namespace infold::coll
