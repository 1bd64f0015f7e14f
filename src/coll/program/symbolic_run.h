// The interpreter's back end for symbols: a program is carried out without a machine or a clock, on
// contributions instead of numbers. A slice moves at once, so all that is left to wait for is data and slots.
// Internal to the checker.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coll/program/checker.h"
#include "coll/program/contributions.h"
#include "coll/program/step_interpreter.h"
#include "coll/program/tokens.h"

namespace infold::coll {

/// The ranks whose contributions to a token are summed.
inline RankSets::Id experts_of(RankSets& sets, const Tokens& tokens, int whose, int token) {
  RankSets::Id who = 0;
  bool any = false;
  for (int rank = 0; rank < tokens.ranks(); ++rank) {
    if (!tokens.goes_to(whose, token, rank)) continue;
    who = any ? sets.unite(who, sets.only(rank)) : sets.only(rank);
    any = true;
  }
  return who;
}

class SymbolicRun {
 public:
  /// Requires: each step makes sense (find_senseless_step). The program must outlive it.
  explicit SymbolicRun(const Program& program);
  SymbolicRun(const SymbolicRun&) = delete;
  SymbolicRun& operator=(const SymbolicRun&) = delete;

  /// Carries out everything. Returns the first flaw on the way: in what a slice does, in waits that never
  /// end, or in data that are never received.
  std::optional<Flaw> run();

  /// What a rank's output and scratch memory hold.
  const Memory& memory(int rank) const { return memory_[static_cast<std::size_t>(rank)]; }
  RankSets& sets() { return sets_; }
  /// The ranks of which this rank knows that they have come to the collective.
  RankSets::Id heard_from(int rank);

 private:
  /// A slice under way.
  struct Message {
    Runs runs;
    RankSets::Id heard_from = 0;
    std::uint32_t step = 0;  // the step of the sender
  };
  struct SymbolicConnection : Connection {
    std::vector<Message> slots;
  };
  struct Channel {
    int rank = 0;
    int channel = 0;
    RankSets::Id heard_from = 0;
    StepInterpreter<SymbolicConnection> steps;
    bool queued = true;
  };
  struct Backend {
    SymbolicRun& run;
    Channel& channel;
    static constexpr bool kMovesPoll = false;
    void begin(const Slice& slice);
    void pass(const Slice& slice) { run.flaw_ = run.carry_out(channel, slice); }
    void announce(SymbolicConnection& out, std::uint64_t) { ++out.arrived; }
    void give_back(SymbolicConnection& in, std::uint64_t) { ++in.freed; }
    void step_ended(const Step&) {}
  };

  bool go(Channel& c);
  std::optional<Wait> waits(const Channel& c) const;
  std::optional<Flaw> carry_out(Channel& c, const Slice& slice);
  std::optional<Flaw> receive(Channel& c, const Slice& slice, Runs& value, bool& first);
  std::optional<Flaw> use_own(const Channel& c, const Slice& slice, Runs& value, bool& first);
  std::optional<Flaw> combine(const Channel& c, Runs& value, const Runs& with, bool& first);
  std::optional<Flaw> store(const Channel& c, int rank, sim::Bytes at, const Runs& runs, bool in_place);
  std::optional<Flaw> unlike(const Channel& c, int from, const Message& message) const;
  std::optional<Flaw> do_in_network(Channel& c);
  std::optional<Flaw> store_in_network(const Channel& c, const Step& s, int rank);
  std::optional<Flaw> stuck() const;
  Flaw circle(const std::vector<const Channel*>& channels) const;
  std::optional<Flaw> left_over() const;
  void wake(int rank, int channel);

  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
           static_cast<std::size_t>(channel);
  }
  static Flaw flaw(const Channel& c, std::string what) {
    return {c.rank, c.channel, static_cast<int>(c.steps.index()), std::move(what)};
  }

  const Program& program_;
  BufferSizes sizes_;
  std::size_t slots_;
  Wiring wiring_;
  RankSets sets_;
  std::vector<Memory> memory_;
  std::vector<SymbolicConnection> connections_;
  std::vector<Channel> channels_;  // indexed by rank · channels + channel
  std::deque<Channel*> ready_;
  std::map<std::pair<int, std::uint32_t>, int>
      came_;                  // how many ranks have come to an in-network step, by (channel, step)
  std::optional<Flaw> flaw_;  // the flaw of the slice just carried out
};

}  // namespace infold::coll
