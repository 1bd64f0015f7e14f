// Steps that switches do for all ranks, on symbols. The interpreter does not carry these out, because they
// have no connections and all ranks take part in each.
#include <fmt/format.h>

#include "coll/program/symbolic_run.h"
#include "coll/program/tokens.h"

namespace infold::coll {

/// Carries out a step that switches do for all ranks, once the last rank has come to it.
std::optional<Flaw> SymbolicRun::do_in_network(Channel& c) {
  const Step& s = c.steps.step();
  // Workgroups tell each other when they are ready.
  const bool meets = s.net == NetOp::kMeet || program_.engine == Engine::kSm;
  if (!meets && s.net != NetOp::kReduceWrite) {
    const int early = sets_.first_missing(sets_.all(program_.ranks), c.heard_from);
    if (early >= 0)
      return flaw(c, fmt::format("reaches into the memory of rank {}, which may not have begun yet", early));
  }
  if (meets) c.heard_from = sets_.all(program_.ranks);
  if (++came_[{c.channel, c.steps.index()}] == program_.ranks && s.net != NetOp::kMeet) {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (auto f = store_in_network(c, s, rank)) return f;
    }
  }
  c.steps.skip_step();
  for (int rank = 0; rank < program_.ranks; ++rank) wake(rank, c.channel);
  return std::nullopt;
}

/// What the switches store in a rank's output.
std::optional<Flaw> SymbolicRun::store_in_network(const Channel& c, const Step& s, int rank) {
  const std::int64_t share = s.bytes.count() / program_.ranks;
  const auto put = [&](sim::Bytes at, std::int64_t bytes, sim::Bytes from, RankSets::Id who) {
    const Run run{bytes, from.count(), who, s.finishes};
    return store(c, rank, at, {run}, false);
  };
  if (s.who == NetWho::kExperts) {
    const Tokens tokens(program_.tuning.experts, program_.bytes, program_.ranks);
    const bool dispatches = s.net == NetOp::kMulticast;
    for (int whose = dispatches ? 0 : rank; whose < (dispatches ? program_.ranks : rank + 1); ++whose) {
      for (int t = 0; t < tokens.count(); ++t) {
        if (dispatches && !tokens.goes_to(whose, t, rank)) continue;
        const sim::Bytes far = tokens.share() * whose + tokens.begin(t);
        const sim::Bytes near = tokens.begin(t);
        const RankSets::Id who = dispatches ? sets_.only(whose) : experts_of(sets_, tokens, whose, t);
        if (auto f = put(dispatches ? far : near, tokens.size(t).count(), dispatches ? near : far, who))
          return f;
      }
    }
    return std::nullopt;
  }
  if (s.net == NetOp::kMulticast && s.who == NetWho::kOwner) {
    for (int whose = 0; whose < program_.ranks; ++whose) {
      if (auto f = put(s.output_offset + s.stride * whose, share, s.input_offset, sets_.only(whose)))
        return f;
    }
    return std::nullopt;
  }
  if (s.net == NetOp::kMulticast)
    return put(s.output_offset, s.bytes.count(), s.input_offset, sets_.only(program_.root));
  const RankSets::Id all = sets_.all(program_.ranks);
  if (s.who == NetWho::kOwner) return put(s.output_offset, share, s.input_offset + s.stride * rank, all);
  if (s.who == NetWho::kRoot && rank != program_.root) return std::nullopt;
  return put(s.output_offset, s.bytes.count(), s.input_offset, all);
}

}  // namespace infold::coll
