// Symbolic execution of programs.
#include "coll/program/checker.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "coll/program/chunking.h"
#include "coll/program/contributions.h"
#include "coll/program/step_check.h"

namespace infold::coll {

namespace {

class Checker {
 public:
  explicit Checker(const Program& program)
      : program_(program),
        sizes_(buffer_sizes(program.collective, program.bytes, program.ranks)),
        slots_(static_cast<std::size_t>(buffer_slots(program.tuning))),
        sets_(program.ranks),
        memory_(static_cast<std::size_t>(program.ranks)) {
    for (int rank = 0; rank < program.ranks; ++rank) {
      for (int channel = 0; channel < program.channels; ++channel)
        runners_.push_back({.rank = rank, .channel = channel, .heard_from = sets_.only(rank)});
    }
  }

  std::optional<Flaw> run() {
    for (Runner& r : runners_) ready_.push_back(&r);
    while (!ready_.empty()) {
      Runner& r = *ready_.front();
      ready_.pop_front();
      r.queued = false;
      while (r.step < steps(r).size() && can_go(r)) {
        if (auto flaw = go(r)) return flaw;
      }
    }
    if (auto flaw = stuck()) return flaw;
    if (auto flaw = left_over()) return flaw;
    return program_.collective == Collective::kBarrier ? wrong_barrier() : wrong_output();
  }

 private:
  struct Runner {
    int rank = 0;
    int channel = 0;
    RankSets::Id heard_from = 0;
    std::size_t step = 0;
    sim::Bytes begin = {};  // of the next slice, within the step
    bool queued = true;
  };
  /// A slice under way.
  struct Message {
    Runs runs;
    RankSets::Id heard_from;
    std::size_t step;  // of the sender
  };
  using Wire = std::deque<Message>;

  const std::vector<Step>& steps(const Runner& r) const { return program_.steps(r.rank, r.channel); }
  const Step& step_of(const Runner& r) const { return steps(r)[r.step]; }
  Runner& runner(int rank, int channel) {
    return runners_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
                    static_cast<std::size_t>(channel)];
  }
  Wire& wire(int from, int to, int channel) { return wires_[{from, to, channel}]; }
  void wake(int rank, int channel) {
    Runner& r = runner(rank, channel);
    if (!r.queued) ready_.push_back(&r);
    r.queued = true;
  }
  static Flaw flaw(const Runner& r, std::string what) {
    return {r.rank, r.channel, static_cast<int>(r.step), std::move(what)};
  }

  /// Whom the runner waits for: the rank, and whether for its data or for room in its buffer.
  struct Wait {
    int rank;
    bool data;
  };
  std::optional<Wait> waits(const Runner& r) {
    if (step_of(r).net == NetOp::kMeet) {
      for (int rank = 0; rank < program_.ranks; ++rank) {
        if (runner(rank, r.channel).step < r.step) return Wait{rank, true};
      }
    }
    for (int from : step_of(r).from) {
      if (wire(from, r.rank, r.channel).empty()) return Wait{from, true};
    }
    for (int to : step_of(r).to) {
      if (wire(r.rank, to, r.channel).size() >= slots_) return Wait{to, false};
    }
    return std::nullopt;
  }
  bool can_go(const Runner& r) { return !waits(r); }

  /// Carries out one slice.
  std::optional<Flaw> go(Runner& r) {
    const Step& s = step_of(r);
    if (s.in_network()) return go_in_network(r);
    const sim::Bytes bytes = sim::min(slice_of(program_.tuning, s.bytes), s.bytes - r.begin);
    Runs value;
    bool first = true;
    for (int from : s.from) {
      Wire& in = wire(from, r.rank, r.channel);
      Message message = std::move(in.front());
      in.pop_front();
      wake(from, r.channel);
      if (auto f = unlike(r, from, message)) return f;
      r.heard_from = sets_.unite(r.heard_from, message.heard_from);
      if (s.landed) {
        const Step& put = program_.steps(from, r.channel)[message.step];
        if (auto f = store(r, r.rank, put.output_offset + r.begin, message.runs, false)) return f;
      } else if (auto f = combine(r, value, message.runs, first)) {
        return f;
      }
    }
    if (bytes > sim::Bytes{} && !s.landed) {
      if (auto f = use_own(r, bytes, value, first)) return f;
      for (Run& run : value) {
        if (s.finishes && run.finished) return flaw(r, "completes a value that is complete already");
        run.finished = run.finished || s.finishes;
      }
      const bool in_place = s.uses_held && s.held_offset == s.output_offset;
      if (s.writes_output) {
        if (auto f = store(r, r.rank, s.output_offset + r.begin, value, in_place)) return f;
      }
    }
    for (int to : s.to) {
      if (s.lands && !sets_.contains(r.heard_from, to))
        return flaw(r, fmt::format("stores into the output of rank {}, which may not have begun yet", to));
      wire(r.rank, to, r.channel).push_back({value, r.heard_from, r.step});
      wake(to, r.channel);
    }
    r.begin += bytes;
    if (r.begin == s.bytes) {
      r.begin = {};
      ++r.step;
    }
    return std::nullopt;
  }

  /// Carries out a step that switches do for all ranks: when the last has come to it.
  std::optional<Flaw> go_in_network(Runner& r) {
    const Step& s = step_of(r);
    // Workgroups tell each other when they are ready.
    const bool meets = s.net == NetOp::kMeet || program_.engine == Engine::kSm;
    if (!meets && s.net != NetOp::kReduceWrite) {
      const int early = sets_.first_missing(sets_.all(program_.ranks), r.heard_from);
      if (early >= 0)
        return flaw(r,
                    fmt::format("reaches into the memory of rank {}, which may not have begun yet", early));
    }
    if (meets) r.heard_from = sets_.all(program_.ranks);
    if (++came_[{r.channel, r.step}] == program_.ranks && s.net != NetOp::kMeet) {
      for (int rank = 0; rank < program_.ranks; ++rank) {
        if (auto f = store_in_network(r, s, rank)) return f;
      }
    }
    ++r.step;
    for (int rank = 0; rank < program_.ranks; ++rank) wake(rank, r.channel);
    return std::nullopt;
  }

  /// What the switches store in a rank's output.
  std::optional<Flaw> store_in_network(const Runner& r, const Step& s, int rank) {
    const std::int64_t share = s.bytes.count() / program_.ranks;
    const auto put = [&](sim::Bytes at, std::int64_t bytes, sim::Bytes from, RankSets::Id who) {
      const Run run{bytes, from.count(), who, s.finishes};
      return store(r, rank, at, {run}, false);
    };
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

  /// Sender and receiver must mean the same step.
  std::optional<Flaw> unlike(const Runner& r, int from, const Message& message) const {
    const Step& s = step_of(r);
    const Step& sent = program_.steps(from, r.channel)[message.step];
    if (sent.bytes != s.bytes) {
      return flaw(r, fmt::format("receives {} bytes from rank {}, whose step {} sends {}", s.bytes.count(),
                                 from, message.step + 1, sent.bytes.count()));
    }
    if (sent.lands != s.landed) {
      return flaw(
          r, fmt::format("looks for what rank {} sends in its step {} in {}", from, message.step + 1,
                         s.landed ? "its output, where it is not" : "a buffer, but it is in the output"));
    }
    return std::nullopt;
  }

  std::optional<Flaw> use_own(const Runner& r, sim::Bytes bytes, Runs& value, bool& first) {
    const Step& s = step_of(r);
    if (s.uses_input) {
      const Run own{bytes.count(), (s.input_offset + r.begin).count(), sets_.only(r.rank), false};
      if (auto f = combine(r, value, {own}, first)) return f;
    }
    if (!s.uses_held) return std::nullopt;
    Runs held;
    const std::int64_t begin = (s.held_offset + r.begin).count();
    for (std::int64_t at = begin; at < begin + bytes.count();) {
      const auto cell = memory_[static_cast<std::size_t>(r.rank)].read(at, begin + bytes.count() - at);
      if (!cell) return flaw(r, fmt::format("reads byte {} of its output, which was not written", at));
      if (cell->channel != r.channel)
        return flaw(
            r, fmt::format("reads byte {} of its output, which channel {} writes at a time of its own", at,
                           cell->channel));
      append(held, cell->run);
      at += cell->run.bytes;
    }
    return combine(r, value, held, first);
  }

  std::optional<Flaw> combine(const Runner& r, Runs& value, const Runs& with, bool& first) {
    if (first) {
      value = with;
      first = false;
      return std::nullopt;
    }
    const auto f = fold_runs(sets_, value, with);
    if (!f) return std::nullopt;
    switch (f->kind) {
      case FoldFlaw::kPlaces:
        return flaw(r, fmt::format("folds byte {} of one input with byte {} of another", f->one.place,
                                   f->other.place));
      case FoldFlaw::kTwice:
        return flaw(r, fmt::format("counts rank {} twice in byte {}",
                                   sets_.first_of_both(f->one.who, f->other.who), f->one.place));
      case FoldFlaw::kFinished:
        break;
    }
    return flaw(r, fmt::format("folds byte {}, which is complete already", f->one.place));
  }

  /// A sum on its way may be written over, by the workgroup that held it; a result may not.
  std::optional<Flaw> store(const Runner& r, int rank, sim::Bytes at, const Runs& runs, bool in_place) {
    Memory& memory = memory_[static_cast<std::size_t>(rank)];
    std::int64_t end = at.count();
    for (const Run& run : runs) end += run.bytes;
    const std::int64_t guarded = std::min(end, sizes_.output.count());  // scratch may be used again
    for (std::int64_t i = at.count(); !in_place && i < guarded;) {
      const std::int64_t written = memory.first_written(i, guarded - i);
      if (written < 0) break;
      const auto cell = memory.read(written, guarded - written);
      const bool sum = reduces(program_.collective) && !cell->run.finished && !step_of(r).landed;
      if (!sum || cell->channel != r.channel)
        return flaw(r, fmt::format("writes byte {} of its output a second time", written));
      i = written + cell->run.bytes;
    }
    memory.write(at.count(), runs, r.channel);
    return std::nullopt;
  }

  /// Who can not go on, and why: a counterpart that is missing, or a circle of waits.
  std::optional<Flaw> stuck() {
    for (Runner& start : runners_) {
      if (start.step == steps(start).size()) continue;
      std::vector<const Runner*> seen;
      for (Runner* at = &start;;) {
        const Wait wait = *waits(*at);
        Runner& next = runner(wait.rank, at->channel);
        if (next.step == steps(next).size()) {
          return flaw(*at, wait.data
                               ? fmt::format("receives from rank {}, which sends it nothing more", wait.rank)
                               : fmt::format("sends to rank {}, which takes nothing more and whose buffer "
                                             "is full",
                                             wait.rank));
        }
        seen.push_back(at);
        const auto again = std::find(seen.begin(), seen.end(), &next);
        if (again != seen.end()) return circle({again, seen.end()});
        at = &next;
      }
    }
    return std::nullopt;
  }

  Flaw circle(const std::vector<const Runner*>& runners) {
    constexpr std::size_t kMost = 6;
    std::string what = "cyclic wait";
    for (std::size_t i = 0; i < runners.size() && i < kMost; ++i) {
      const Runner& r = *runners[i];
      const Wait wait = *waits(r);
      what +=
          fmt::format("{} rank {} step {} waits for rank {} to {}", i == 0 ? ":" : ",", r.rank, r.step + 1,
                      wait.rank, wait.data ? "send" : fmt::format("free one of its {} buffer slots", slots_));
    }
    if (runners.size() > kMost) what += fmt::format(", and so on round {} ranks", runners.size());
    return flaw(*runners.front(), std::move(what));
  }

  std::optional<Flaw> left_over() {
    for (const auto& [ends, messages] : wires_) {
      if (messages.empty()) continue;
      const auto& [from, to, channel] = ends;
      return Flaw{from, channel, static_cast<int>(messages.front().step),
                  fmt::format("sends to rank {} what that never receives", to)};
    }
    return std::nullopt;
  }

  std::optional<Flaw> wrong_barrier() {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      RankSets::Id heard = sets_.only(rank);
      for (int c = 0; c < program_.channels; ++c) heard = sets_.unite(heard, runner(rank, c).heard_from);
      if (const int missing = sets_.first_missing(sets_.all(program_.ranks), heard); missing >= 0)
        return Flaw{rank, -1, -1,
                    fmt::format("may leave the barrier before rank {} has come to it", missing)};
    }
    return std::nullopt;
  }

  /// What must stand at a byte of a rank's output; as far as it goes on the same way.
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
        return {sizes_.output.count() - at, at, sets_.only(program_.root), false};
      case Collective::kAllGather:
        return {share - at % share, at % share, sets_.only(whose), false};
      case Collective::kAllToAll:
        return {share - at % share, share * rank + at % share, sets_.only(whose), false};
      case Collective::kBarrier:
        break;
    }
    return {};
  }

  std::optional<Flaw> wrong_output() {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (program_.collective == Collective::kReduce && rank != program_.root) continue;
      for (std::int64_t at = 0; at < sizes_.output.count();) {
        const Run right = expected(rank, at);
        const auto cell = memory_[static_cast<std::size_t>(rank)].read(at, right.bytes);
        if (!cell) return Flaw{rank, -1, -1, fmt::format("byte {} of its output is never written", at)};
        if (auto what = difference(cell->run, right); !what.empty())
          return Flaw{rank, cell->channel, -1, fmt::format("byte {} of its output {}", at, what)};
        at += cell->run.bytes;
      }
    }
    return std::nullopt;
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
  std::size_t slots_;
  RankSets sets_;
  std::vector<Memory> memory_;
  std::vector<Runner> runners_;
  std::deque<Runner*> ready_;
  std::map<std::tuple<int, int, int>, Wire> wires_;  // (from, to, channel)
  std::map<std::pair<int, std::size_t>, int> came_;  // ranks at an in-network step: (channel, step)
};

}  // namespace

std::string to_string(const Flaw& flaw, const Program& program) {
  std::string where;
  if (flaw.rank >= 0) where = fmt::format("rank {}", flaw.rank);
  if (flaw.channel >= 0) where += fmt::format(" channel {}", flaw.channel);
  if (flaw.step >= 0) {
    const auto& list = program.steps(flaw.rank, flaw.channel);
    where += fmt::format(" step {} of {} ({})", flaw.step + 1, list.size(),
                         name_of(list[static_cast<std::size_t>(flaw.step)]));
  }
  return where.empty() ? flaw.what : fmt::format("{}: {}", where, flaw.what);
}

std::optional<Flaw> find_flaw(const Program& program) {
  if (auto flaw = find_senseless_step(program)) return flaw;
  return Checker(program).run();
}

}  // namespace infold::coll
