// The ring algorithm: chunks go round twice, and are folded the first time and copied the second time. Each
// rank sends only to its successor, so every link carries the same amount.
#include "coll/algo/algorithms.h"
#include "coll/algo/ring_steps.h"
#include "coll/algo/rings.h"

namespace infold::coll {

namespace {

void all_reduce(RingWriter& w, const Request& request, Part part) {
  while (part.begin < part.end) {
    // A window has one chunk for each rank, and less at the end of the message.
    const sim::Bytes left = part.end - part.begin;
    const sim::Bytes chunk = chunk_of(request.tuning, sim::Bytes{(left.count() + w.ranks() - 1) / w.ranks()});
    const auto share = [&](int behind) {
      const int rank = w.rank(behind);
      const sim::Bytes begin = sim::min(part.end, part.begin + chunk * rank);
      return step_at(begin, sim::min(part.end, part.begin + chunk * (rank + 1)) - begin);
    };
    fold_round(w, share, {.held = false, .finishes = true, .pass_on = true});
    copy_round(w, share);
    part.begin = sim::min(part.end, part.begin + chunk * w.ranks());
  }
}

/// Calls `round(share)` for each piece of a part of the ranks' shares. share(behind) is a step for that piece
/// of the share of the rank that many places behind, which lies at `offset` in the longer vector.
template <class Round>
void for_shares(RingWriter& w, const Request& request, Part part, sim::Bytes Step::*offset, Round round) {
  const sim::Bytes block = request.bytes / w.ranks();
  for_pieces(part, max_chunk(request.tuning), [&](sim::Bytes begin, sim::Bytes bytes) {
    round([&](int behind) {
      Step s = step_at(begin, bytes);
      s.*offset = block * w.rank(behind) + begin;
      return s;
    });
  });
}

void reduce_scatter(RingWriter& w, const Request& request, Part part) {
  for_shares(w, request, part, &Step::input_offset, [&](const auto& share) {
    fold_round(w, share, {.held = false, .finishes = true, .pass_on = false});
  });
}

void all_gather(RingWriter& w, const Request& request, Part part) {
  for_shares(w, request, part, &Step::output_offset, [&](const auto& share) {
    Step own = share(0);
    own.to = {w.to()};
    own.uses_input = own.writes_output = true;
    w.add(own);
    copy_round(w, share);
  });
}

/// A chain that starts at the root, or ends there.
void chain(RingWriter& w, const Request& request, Part part) {
  const bool reduce = request.collective == Collective::kReduce;
  const bool root = w.self() == request.root;
  const bool first = reduce ? w.from() == request.root : root;
  const bool last = reduce ? root : w.to() == request.root;
  const sim::Bytes piece = pipelined_piece(request.tuning, part.end - part.begin, w.ranks() - 1);
  for_pieces(part, piece, [&](sim::Bytes begin, sim::Bytes bytes) {
    Step s = step_at(begin, bytes);
    if (!first) s.from = {w.from()};
    if (!last) s.to = {w.to()};
    s.uses_input = reduce || root;
    s.writes_output = !reduce || root;
    s.finishes = reduce && root;
    w.add(s);
  });
}

/// A token goes round twice: the first time it collects all ranks, the second time it releases them.
void barrier(const RingWriter& w, std::vector<Step>& out) {
  const bool first = w.self() == 0;
  for (int round = 0; round < 2; ++round) {
    if (first) add_flag(out, {}, {w.to()});
    add_flag(out, {w.from()}, first ? Peers{} : Peers{w.to()});
  }
}

/// Every ring gets the same number of channels, so that the links of all rings carry the same.
int whole_rounds(int channels, int rings) {
  return channels < rings ? channels : channels - channels % rings;
}

}  // namespace

Program write_ring(const Request& request) {
  const int n = request.ranks();
  // What is divided among the channels: the vector, or the share of each rank.
  const sim::Bytes cut = has_shares(request.collective) ? request.bytes / n : request.bytes;
  const auto rings = find_rings(*request.fabric, request.gpus);
  // With LL, the minimum per thread applies to the chunk of each rank, as in the library.
  const sim::Bytes for_threads = request.tuning.protocol == Protocol::kLl ? request.bytes / n : request.bytes;
  Program program = blank_program(
      request, whole_rounds(channels_for(request.tuning, for_threads), static_cast<int>(rings.size())));
  for (int channel = 0; channel < program.channels; ++channel) {
    const auto& order = rings[static_cast<std::size_t>(channel) % rings.size()];
    const Part part = part_of(cut, channel, program.channels);
    for (int place = 0; place < n && !stopped(request); ++place) {
      auto& list = program.steps(order[static_cast<std::size_t>(place)], channel);
      RingWriter w(order, place, list);
      switch (request.collective) {
        case Collective::kAllReduce:
          all_reduce(w, request, part);
          break;
        case Collective::kReduceScatter:
          reduce_scatter(w, request, part);
          break;
        case Collective::kAllGather:
          all_gather(w, request, part);
          break;
        case Collective::kBroadcast:
        case Collective::kReduce:
          chain(w, request, part);
          break;
        case Collective::kBarrier:
          barrier(w, list);
          break;
        case Collective::kAllToAll:
        case Collective::kSend:
        case Collective::kSendRecv:
        case Collective::kDispatch:
        case Collective::kCombine:
          break;  // these collectives are not offered
      }
    }
  }
  return program;
}

}  // namespace infold::coll
