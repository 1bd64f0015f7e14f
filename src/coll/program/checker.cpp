// Checks whether the outcome of a program, found by carrying it out on symbols, is what its collective
// promises.
#include "coll/program/checker.h"

#include <fmt/format.h>

#include "coll/program/step_check.h"
#include "coll/program/symbolic_run.h"
#include "coll/program/tokens.h"

namespace infold::coll {

namespace {

class OutcomeCheck {
 public:
  OutcomeCheck(const Program& program, SymbolicRun& run)
      : program_(program),
        sizes_(buffer_sizes(program.collective, program.bytes, program.ranks)),
        run_(run),
        sets_(run.sets()) {}

  std::optional<Flaw> wrong_barrier() {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      const int missing = sets_.first_missing(sets_.all(program_.ranks), run_.heard_from(rank));
      if (missing >= 0)
        return Flaw{rank, -1, -1,
                    fmt::format("may leave the barrier before rank {} has come to it", missing)};
    }
    return std::nullopt;
  }

  std::optional<Flaw> wrong_output() {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (program_.collective == Collective::kReduce && rank != program_.root) continue;
      if (program_.collective == Collective::kSend && rank != receiver_of(program_.root, program_.ranks))
        continue;
      for (std::int64_t at = 0; at < sizes_.output.count();) {
        if (const std::int64_t free = anything(rank, at); free > 0) {
          at += free;
          continue;
        }
        const Run right = expected(rank, at);
        const auto cell = run_.memory(rank).read(at, right.bytes);
        if (!cell) return Flaw{rank, -1, -1, fmt::format("byte {} of its output is never written", at)};
        if (auto what = difference(cell->run, right); !what.empty())
          return Flaw{rank, cell->channel, -1, fmt::format("byte {} of its output {}", at, what)};
        at += cell->run.bytes;
      }
    }
    return std::nullopt;
  }

 private:
  /// How many bytes of a rank's output, from there on, may hold anything: the places of tokens that do not
  /// come to it.
  std::int64_t anything(int rank, std::int64_t at) const {
    if (program_.collective != Collective::kDispatch) return 0;
    const Tokens tokens(program_.tuning.experts, program_.bytes, program_.ranks);
    const std::int64_t share = tokens.share().count();
    const int t = tokens.at(at % share);
    if (tokens.goes_to(static_cast<int>(at / share), t, rank)) return 0;
    return (tokens.begin(t) + tokens.size(t)).count() - at % share;
  }

  /// What must stand at a byte of a rank's output. The run ends where the same no longer holds for the bytes
  /// behind it.
  Run expected(int rank, std::int64_t at) {
    const std::int64_t share = program_.bytes.count() / program_.ranks;
    const auto whose = static_cast<int>(share == 0 ? 0 : at / share);
    switch (program_.collective) {
      case Collective::kAllReduce:
      case Collective::kReduce:
        return {sizes_.output.count() - at, at, sets_.all(program_.ranks), true};
      case Collective::kReduceScatter:
        return {sizes_.output.count() - at, share * rank + at, sets_.all(program_.ranks), true};
      case Collective::kBroadcast:
      case Collective::kSend:
        return {sizes_.output.count() - at, at, sets_.only(program_.root), false};
      case Collective::kSendRecv:
        return {sizes_.output.count() - at, at, sets_.only((rank + program_.ranks - 1) % program_.ranks),
                false};
      case Collective::kAllGather:
        return {share - at % share, at % share, sets_.only(whose), false};
      case Collective::kDispatch:
      case Collective::kCombine: {
        const Tokens tokens(program_.tuning.experts, program_.bytes, program_.ranks);
        const int t = tokens.at(share == 0 ? 0 : at % share);
        const std::int64_t left = (tokens.begin(t) + tokens.size(t)).count() - at % share;
        if (program_.collective == Collective::kDispatch) return {left, at % share, sets_.only(whose), false};
        return {left, share * rank + at, experts_of(sets_, tokens, rank, t), true};
      }
      case Collective::kAllToAll:
        return {share - at % share, share * rank + at % share, sets_.only(whose), false};
      case Collective::kBarrier:
        break;
    }
    return {};
  }

  std::string difference(const Run& got, const Run& right) const {
    if (got.place != right.place)
      return fmt::format("is byte {} of the inputs, not {}", got.place, right.place);
    if (const int r = sets_.first_missing(right.who, got.who); r >= 0)
      return fmt::format("lacks the contribution of rank {}", r);
    if (const int r = sets_.first_missing(got.who, right.who); r >= 0)
      return fmt::format("has a contribution of rank {}", r);
    if (got.finished == right.finished) return {};
    return right.finished ? "is never marked complete (an average would not be divided)"
                          : "is marked complete (an average would be divided)";
  }

  const Program& program_;
  BufferSizes sizes_;
  SymbolicRun& run_;
  RankSets& sets_;
};

}  // namespace

std::string to_string(const Flaw& flaw, const Program& program) {
  std::string where;
  if (flaw.rank >= 0) where = fmt::format("rank {}", flaw.rank);
  if (flaw.channel >= 0) where += fmt::format(" channel {}", flaw.channel);
  if (flaw.step >= 0)
    where = place_of(flaw.rank, flaw.channel, program.steps(flaw.rank, flaw.channel),
                     static_cast<std::size_t>(flaw.step));
  return where.empty() ? flaw.what : fmt::format("{}: {}", where, flaw.what);
}

std::optional<Flaw> find_flaw(const Program& program) {
  if (auto flaw = find_senseless_step(program)) return flaw;
  SymbolicRun run(program);
  if (auto flaw = run.run()) return flaw;
  OutcomeCheck outcome(program, run);
  return program.collective == Collective::kBarrier ? outcome.wrong_barrier() : outcome.wrong_output();
}

}  // namespace infold::coll
