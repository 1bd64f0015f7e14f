// Direct algorithms: every rank sends to every other in one hop, without an intermediary. They have few steps
// and many bytes, so they win where messages are small. All-to-all and barrier have no better algorithm on a
// fabric that joins all ranks.
#include "coll/program/tokens.h"
#include "coll/program/writing.h"

namespace infold::coll {

namespace {

/// Folds what all others send with the input of the rank, as many ranks at a time as a step allows.
void fold_all(int rank, int ranks, Step own, Steps& out) {
  const auto groups = others_of(rank, ranks);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Step s = own;
    s.from = groups[i];
    s.writes_output = true;
    s.held_offset = s.output_offset;
    s.uses_input = i == 0;
    s.uses_held = i > 0;
    s.finishes = i + 1 == groups.size();
    add(out, s);
  }
}

/// Sends the input of the rank to every other rank.
void send_all(int rank, int ranks, Step own, Steps& out) {
  for (const Peers& peers : others_of(rank, ranks)) {
    Step s = own;
    s.to = peers;
    s.uses_input = true;
    add(out, s);
  }
}

/// Writes the steps of one rank on one channel.
struct Writer {
  const Request& request;
  int rank;
  int channel;
  int channels;
  int n;
  Part part;  ///< of the vector, or of each share of it
  Steps& out;

  sim::Bytes share(int of) const { return request.bytes / n * of; }

  /// `send` and `receive` add the steps of a chunk to a list.
  template <class Send, class Receive>
  void for_chunks(Send send, Receive receive) const {
    std::vector<Steps> sends;
    std::vector<Steps> receives;
    for_pieces(part, max_chunk(request.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
      send(step_at(begin, bytes), sends.emplace_back());
      receive(step_at(begin, bytes), receives.emplace_back());
    });
    interleave(sends, receives, request.tuning, out);
  }

  /// One-shot: every rank gets everything and reduces all of it.
  void all_reduce() {
    for_chunks([&](const Step& chunk, Steps& list) { send_all(rank, n, chunk, list); },
               [&](const Step& chunk, Steps& list) { fold_all(rank, n, chunk, list); });
  }

  void reduce_scatter() {
    const auto send = [&](const Step& chunk, Steps& list) {
      for (int d = 0; d < n - 1; ++d) {
        const int to = nth_other(rank, d + channel, n);
        Step s = chunk;
        s.input_offset += share(to);
        s.to = {to};
        s.uses_input = true;
        add(list, s);
      }
    };
    for_chunks(send, [&](Step chunk, Steps& list) {
      chunk.input_offset += share(rank);
      fold_all(rank, n, chunk, list);
    });
  }

  /// No rank stores into the output of another before the kernel of that rank has begun.
  void wait_for_all() {
    for (const Peers& peers : others_of(rank, n)) add_flag(out, {}, peers);
    for (const Peers& peers : others_of(rank, n)) add_flag(out, peers, {});
  }
  void wait_for_data(sim::Bytes bytes, Steps& list) const {
    for (const Peers& peers : others_of(rank, n)) {
      Step s;
      s.bytes = bytes;
      s.from = peers;
      s.landed = true;
      add(list, s);
    }
  }

  /// Puts the share of the rank straight into every output.
  void all_gather() {
    wait_for_all();
    const auto send = [&](Step s, Steps& list) {
      s.output_offset += share(rank);
      s.uses_input = s.lands = s.writes_output = true;
      for (const Peers& peers : others_of(rank, n)) {
        s.to = peers;
        add(list, s);
        s.writes_output = false;
      }
    };
    for_chunks(send, [&](const Step& chunk, Steps& list) { wait_for_data(chunk.bytes, list); });
  }

  void all_to_all() {
    wait_for_all();
    const auto send = [&](const Step& chunk, Steps& list) {
      for (int d = -1; d < n - 1; ++d) {
        const int to = d < 0 ? rank : nth_other(rank, d + channel, n);
        Step s = chunk;
        s.input_offset += share(to);
        s.output_offset += share(rank);
        s.uses_input = true;
        if (to == rank) {
          s.writes_output = true;
        } else {
          s.to = {to};
          s.lands = true;
        }
        add(list, s);
      }
    };
    for_chunks(send, [&](const Step& chunk, Steps& list) { wait_for_data(chunk.bytes, list); });
  }

  /// All other ranks that are wanted, in groups that one step can serve.
  template <class Wanted>
  std::vector<Peers> others(Wanted wanted) const {
    std::vector<Peers> groups;
    for (int d = 1; d < n; ++d) {
      const int peer = (rank + d) % n;
      if (!wanted(peer)) continue;
      if (groups.empty() || groups.back().full()) groups.emplace_back();
      groups.back().add(peer);
    }
    return groups;
  }
  std::vector<Peers> experts_of(const Tokens& tokens, int token) const {
    return others([&](int peer) { return tokens.goes_to(rank, token, peer); });
  }
  /// Whose token of this number comes here.
  std::vector<Peers> sources_of(const Tokens& tokens, int token) const {
    return others([&](int peer) { return tokens.goes_to(peer, token, rank); });
  }

  /// Calls `f(token, begin, bytes)` for the pieces of this channel's tokens, and adds the steps that it
  /// gives.
  template <class F>
  void for_tokens(const Tokens& tokens, F f) {
    std::vector<Steps> sends;
    std::vector<Steps> receives;
    for (int t = channel; t < tokens.count(); t += channels) {
      const Part token{tokens.begin(t), tokens.begin(t) + tokens.size(t)};
      for_pieces(token, max_chunk(request.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
        f(t, begin, bytes, sends.emplace_back(), receives.emplace_back());
      });
    }
    interleave(sends, receives, request.tuning, out);
  }

  void dispatch() {
    wait_for_all();
    const Tokens tokens(request.tuning.experts, request.bytes, n);
    for_tokens(tokens, [&](int t, sim::Bytes begin, sim::Bytes bytes, Steps& send, Steps& receive) {
      Step s = step_at(begin, bytes);
      s.output_offset += share(rank);
      s.uses_input = true;
      s.writes_output = tokens.goes_to(rank, t, rank);
      const auto groups = experts_of(tokens, t);
      if (groups.empty()) add(send, s);
      s.lands = true;
      for (const Peers& peers : groups) {
        s.to = peers;
        add(send, s);
        s.writes_output = false;
      }
      for (const Peers& peers : sources_of(tokens, t)) {
        Step wait;
        wait.bytes = bytes;
        wait.from = peers;
        wait.landed = true;
        add(receive, wait);
      }
    });
  }

  void combine() {
    const Tokens tokens(request.tuning.experts, request.bytes, n);
    for_tokens(tokens, [&](int t, sim::Bytes begin, sim::Bytes bytes, Steps& send, Steps& receive) {
      for (const Peers& peers : sources_of(tokens, t)) {
        for (const int whose : peers) {
          Step s = step_at(begin, bytes);
          s.input_offset += share(whose);
          s.to = {whose};
          s.uses_input = true;
          add(send, s);
        }
      }
      auto groups = experts_of(tokens, t);
      if (groups.empty()) groups.emplace_back();
      for (std::size_t i = 0; i < groups.size(); ++i) {
        Step s = step_at(begin, bytes);
        s.input_offset += share(rank);
        s.from = groups[i];
        s.writes_output = true;
        s.uses_input = i == 0 && tokens.goes_to(rank, t, rank);
        s.uses_held = i > 0;
        s.finishes = i + 1 == groups.size();
        add(receive, s);
      }
    });
  }

  void broadcast() {
    for_pieces(part, max_chunk(request.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
      Step s = step_at(begin, bytes);
      s.writes_output = true;
      if (rank != request.root) {
        s.from = {request.root};
        add(out, s);
        return;
      }
      s.uses_input = true;
      for (const Peers& peers : others_of(rank, n)) {
        s.to = peers;
        add(out, s);
        s.writes_output = false;
      }
    });
  }

  void reduce() {
    for_pieces(part, max_chunk(request.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
      Step s = step_at(begin, bytes);
      if (rank == request.root) {
        fold_all(rank, n, s, out);
        return;
      }
      s.uses_input = true;
      s.to = {request.root};
      add(out, s);
    });
  }
};

}  // namespace

Program write_direct(const Request& request) {
  const int n = request.ranks();
  Program program = blank_program(request, channels_for(request.tuning, request.bytes));
  const sim::Bytes cut = has_shares(request.collective) ? request.bytes / n : request.bytes;
  for (int channel = 0; channel < program.channels; ++channel) {
    for (int rank = 0; rank < n && !stopped(request); ++rank) {
      Writer w{request,
               rank,
               channel,
               program.channels,
               n,
               part_of(cut, channel, program.channels),
               program.steps(rank, channel)};
      switch (request.collective) {
        case Collective::kAllReduce:
          w.all_reduce();
          break;
        case Collective::kReduceScatter:
          w.reduce_scatter();
          break;
        case Collective::kAllGather:
          w.all_gather();
          break;
        case Collective::kBroadcast:
          w.broadcast();
          break;
        case Collective::kReduce:
          w.reduce();
          break;
        case Collective::kAllToAll:
          w.all_to_all();
          break;
        case Collective::kBarrier:
          w.wait_for_all();
          break;
        case Collective::kDispatch:
          w.dispatch();
          break;
        case Collective::kCombine:
          w.combine();
          break;
        case Collective::kSend:
        case Collective::kSendRecv:
          break;  // these collectives are not offered
      }
    }
  }
  return program;
}

}  // namespace infold::coll
