// Recursive halving and doubling: partners exchange halves of the vector, then quarters, until each rank has
// its reduced share; the reverse order gathers the shares. It takes log n rounds, and no more bytes than a
// ring.
//
// If the number of ranks is a power of two, ranks whose numbers differ in one bit are partners. Any other
// number of ranks goes round a circle by powers of two (the all-gather of Bruck, and its reverse for the
// reduction), without the extra rounds that folding the surplus ranks into others would cost.
#include <bit>

#include "coll/program/writing.h"

namespace infold::coll {

namespace {

/// Blocks first, first + 1, ..., counted round the circle of ranks.
struct Blocks {
  int first = 0;
  int count = 0;
};

/// Which ranks exchange which blocks in which round. Rounds count from 0; the distance halves while reducing.
class Plan {
 public:
  explicit Plan(int ranks) : n_(ranks), pairs_(std::has_single_bit(static_cast<unsigned>(ranks))) {}

  int rounds() const { return static_cast<int>(std::bit_width(static_cast<unsigned>(n_ - 1))); }
  /// The partners while reducing. While gathering, the same rounds run backwards, and data goes the other
  /// way.
  int to(int rank, int round) const { return pairs_ ? rank ^ distance(round) : turn(rank, distance(round)); }
  int from(int rank, int round) const {
    return pairs_ ? rank ^ distance(round) : turn(rank, -distance(round));
  }
  /// The blocks that a rank is sent while reducing, with which it continues.
  Blocks kept(int rank, int round) const {
    const int d = distance(round);
    return pairs_ ? Blocks{rank / d * d, d} : Blocks{rank, std::min(d, n_ - d)};
  }
  /// Whether the rank has folded values of others into this block before the round.
  bool holds(int rank, int block, int round) const {
    for (int earlier = 0; earlier < round; ++earlier) {
      const Blocks b = kept(rank, earlier);
      if (turn(block, -b.first) < b.count) return true;
    }
    return false;
  }
  int turn(int at, int by) const { return ((at + by) % n_ + n_) % n_; }

 private:
  int distance(int round) const { return 1 << (rounds() - 1 - round); }
  int n_;
  bool pairs_;
};

/// Writes the steps of one rank on one channel.
class HalvingWriter {
 public:
  /// `layout(block)` is the part of the vector that a block has on this channel.
  template <class Layout>
  HalvingWriter(const Request& request, const Plan& plan, int rank, Layout layout, std::vector<Step>& out)
      : request_(request), plan_(plan), rank_(rank), out_(out) {
    for (int b = 0; b < request.ranks(); ++b) blocks_.push_back(layout(b));
  }

  void reduce() {
    for (int round = 0; round < plan_.rounds(); ++round) {
      const int to = plan_.to(rank_, round);
      const int from = plan_.from(rank_, round);
      std::vector<Steps> sends;
      std::vector<Steps> receives;
      for_runs(plan_.kept(to, round), rank_, to, round, [&](Part part, bool held, bool) {
        Step s = own(part, held);
        s.to = {to};
        cut(s, sends);
      });
      for_runs(plan_.kept(rank_, round), from, rank_, round, [&](Part part, bool, bool held) {
        Step s = own(part, held);
        s.from = {from};
        s.writes_output = true;
        s.finishes = round + 1 == plan_.rounds();
        if (s.finishes && request_.collective == Collective::kReduceScatter)
          s.output_offset = part.begin - request_.bytes / request_.ranks() * rank_;
        cut(s, receives);
      });
      interleave(sends, receives, request_.tuning, out_);
    }
  }

  /// `from_input`: the block of the rank itself is not in its output yet.
  void gather(bool from_input) {
    for (int round = plan_.rounds() - 1; round >= 0; --round) {
      const int to = plan_.from(rank_, round);
      const int from = plan_.to(rank_, round);
      const bool first = from_input && round + 1 == plan_.rounds();
      std::vector<Steps> sends;
      std::vector<Steps> receives;
      for_runs(plan_.kept(rank_, round), -1, -1, 0, [&](Part part, bool, bool) {
        Step s = step_at(part.begin, part.end - part.begin);
        s.input_offset = {};
        if (first) {  // then it is one block, its own
          s.input_offset = part.begin - request_.bytes / request_.ranks() * rank_;
          s.writes_output = true;
        }
        (first ? s.uses_input : s.uses_held) = true;
        s.to = {to};
        cut(s, sends);
      });
      for_runs(plan_.kept(from, round), -1, -1, 0, [&](Part part, bool, bool) {
        Step s = step_at(part.begin, part.end - part.begin);
        s.from = {from};
        s.writes_output = true;
        cut(s, receives);
      });
      interleave(sends, receives, request_.tuning, out_);
    }
  }

 private:
  /// Calls `f(part, sender holds it, receiver holds it)` for runs of adjacent blocks that have the same
  /// answers. Sender and receiver compute the same runs.
  template <class F>
  void for_runs(Blocks blocks, int sender, int receiver, int round, F f) {
    const auto holds = [&](int rank, int block) { return rank >= 0 && plan_.holds(rank, block, round); };
    Part run{};
    bool sender_holds = false;
    bool receiver_holds = false;
    for (int i = 0; i < blocks.count; ++i) {
      const int block = plan_.turn(blocks.first, i);
      const Part part = blocks_[static_cast<std::size_t>(block)];
      if (part.begin == part.end) continue;
      const bool s = holds(sender, block);
      const bool r = holds(receiver, block);
      if (run.end == part.begin && run.begin < run.end && s == sender_holds && r == receiver_holds) {
        run.end = part.end;
        continue;
      }
      if (run.begin < run.end) f(run, sender_holds, receiver_holds);
      run = part;
      sender_holds = s;
      receiver_holds = r;
    }
    if (run.begin < run.end) f(run, sender_holds, receiver_holds);
  }

  /// The own values of this rank: its input, or what it holds. A reduce-scatter holds sums in scratch memory,
  /// which lies behind the output and has room for the whole vector.
  Step own(Part part, bool held) const {
    Step s = step_at(part.begin, part.end - part.begin);
    if (request_.collective == Collective::kReduceScatter) {
      s.held_offset = s.output_offset = request_.bytes / request_.ranks() + part.begin;
    }
    (held ? s.uses_held : s.uses_input) = true;
    return s;
  }

  void cut(const Step& step, std::vector<Steps>& out) const {
    for_pieces({{}, step.bytes}, max_chunk(request_.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
      Step s = step;
      s.bytes = bytes;
      s.input_offset += begin;
      s.held_offset += begin;
      s.output_offset += begin;
      out.push_back({s});
    });
  }

  const Request& request_;
  const Plan& plan_;
  int rank_;
  std::vector<Part> blocks_;
  std::vector<Step>& out_;
};

/// In round r every rank hears from the rank 2^r behind, which by then has heard from 2^r ranks.
void barrier(int rank, int ranks, std::vector<Step>& out) {
  for (int d = 1; d < ranks; d *= 2) {
    add_flag(out, {}, {(rank + d) % ranks});
    add_flag(out, {(rank + ranks - d) % ranks}, {});
  }
}

}  // namespace

Program write_halving_doubling(const Request& request) {
  const int n = request.ranks();
  const Plan plan(n);
  Program program = blank_program(request, channels_for(request.tuning, request.bytes));
  if (request.collective == Collective::kReduceScatter) program.scratch = request.bytes;
  for (int channel = 0; channel < program.channels; ++channel) {
    // Blocks are the shares of the ranks, of which each channel has its part; an all-reduce may cut freely.
    const auto layout = [&](int block) {
      if (!has_shares(request.collective))
        return part_of(part_of(request.bytes, channel, program.channels), block, n);
      const Part share{request.bytes / n * block, request.bytes / n * (block + 1)};
      return part_of(share, channel, program.channels);
    };
    for (int rank = 0; rank < n && !stopped(request); ++rank) {
      auto& list = program.steps(rank, channel);
      if (request.collective == Collective::kBarrier) {
        barrier(rank, n, list);
        continue;
      }
      HalvingWriter w(request, plan, rank, layout, list);
      if (reduces(request.collective)) w.reduce();
      if (request.collective != Collective::kReduceScatter)
        w.gather(request.collective == Collective::kAllGather);
    }
  }
  return program;
}

}  // namespace infold::coll
