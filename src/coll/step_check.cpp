// One step at a time.
#include "coll/step_check.h"

#include <fmt/format.h>

#include <algorithm>

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
  // Not begin + bytes: what a file says may be so large that the sum has no room.
  if (begin >= sim::Bytes{} && begin <= size && bytes <= size - begin) return {};
  return fmt::format("{} bytes from byte {} on, and there are {}", what, begin.count(), size.count());
}

std::string wrong_flags(const Step& s) {
  if (!s.receives() && !s.sends() && !s.writes_output) return "does nothing";
  if (s.landed &&
      (!s.receives() || s.sends() || s.uses_input || s.uses_held || s.writes_output || s.finishes))
    return "waits for what lands in its output, and can do nothing else";
  if (s.lands && !s.sends()) return "puts data into outputs of nobody";
  if (s.bytes == sim::Bytes{}) {
    const bool data = s.uses_input || s.uses_held || s.writes_output || s.finishes || s.lands || s.landed;
    return data ? "has no bytes to work on" : "";
  }
  if (!s.landed && s.loads() == 0) return "has no value: nothing received, no input, nothing held";
  return {};
}

std::string senseless(const Step& s, int rank, const Program& p, const BufferSizes& sizes) {
  if (s.bytes < sim::Bytes{}) return "has a negative number of bytes";
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
  return std::nullopt;
}

}  // namespace infold::coll
