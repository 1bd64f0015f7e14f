// The ring algorithm: chunks go round, folded on the first way round and copied on the second.
// Each rank sends to its successor only, so every link carries the same and none carries more.
#include "coll/algorithms.h"
#include "coll/chunking.h"
#include "coll/rings.h"

namespace infold::coll {

namespace {

/// Writes the steps of one rank on one channel, for a window of the message at a time.
class RingWriter {
 public:
  RingWriter(const std::vector<int>& order, int place, std::vector<Step>& out)
      : order_(order), n_(static_cast<int>(order.size())), place_(place), out_(out) {}

  int rank(int behind) const { return order_[static_cast<std::size_t>((place_ + n_ - behind) % n_)]; }
  int self() const { return rank(0); }
  int from() const { return rank(1); }
  int to() const { return rank(n_ - 1); }
  int ranks() const { return n_; }

  void add(Step step) {
    if (step.bytes > sim::Bytes{}) out_.push_back(step);
  }

 private:
  const std::vector<int>& order_;
  int n_;
  int place_;
  std::vector<Step>& out_;
};

/// First way round: the share of the rank i places behind starts at its successor and ends, folded, at
/// itself. `share(r)` is the (input offset, output offset, bytes) of rank r's share.
template <class Share>
void fold_round(RingWriter& w, Share share, bool pass_on) {
  Step first = share(w.rank(1));
  first.to = {w.to()};
  first.uses_input = true;
  w.add(first);
  for (int behind = 2; behind < w.ranks(); ++behind) {
    Step s = share(w.rank(behind));
    s.from = {w.from()};
    s.to = {w.to()};
    s.uses_input = true;
    w.add(s);
  }
  Step last = share(w.self());
  last.from = {w.from()};
  last.uses_input = last.writes_output = last.finishes = true;
  if (pass_on) last.to = {w.to()};
  w.add(last);
}

/// Second way round: finished shares are copied from neighbour to neighbour.
template <class Share>
void copy_round(RingWriter& w, Share share) {
  for (int behind = 1; behind < w.ranks(); ++behind) {
    Step s = share(w.rank(behind));
    s.from = {w.from()};
    s.writes_output = true;
    if (behind < w.ranks() - 1) s.to = {w.to()};
    w.add(s);
  }
}

/// A message of one rank needs no neighbour.
void copy_alone(RingWriter& w, sim::Bytes begin, sim::Bytes bytes) {
  Step s;
  s.uses_input = s.writes_output = s.finishes = true;
  s.bytes = bytes;
  s.input_offset = s.output_offset = begin;
  w.add(s);
}

void all_reduce(RingWriter& w, const Request& request, Part part) {
  const sim::Bytes most = max_chunk(request.tuning);
  while (part.begin < part.end) {
    // The window: a chunk for each rank, less at the end of the message.
    const sim::Bytes left = part.end - part.begin;
    const sim::Bytes even{round_up((left.count() + w.ranks() - 1) / w.ranks(), kVector)};
    const sim::Bytes chunk = sim::min(most, even);
    const auto share = [&](int rank) {
      Step s;
      s.input_offset = s.output_offset = sim::min(part.end, part.begin + chunk * rank);
      s.bytes = sim::min(part.end, part.begin + chunk * (rank + 1)) - s.input_offset;
      return s;
    };
    fold_round(w, share, /*pass_on=*/true);
    copy_round(w, share);
    part.begin = sim::min(part.end, part.begin + chunk * w.ranks());
  }
}

void reduce_scatter(RingWriter& w, const Request& request, Part part) {
  const sim::Bytes block = request.bytes / w.ranks();
  for (; part.begin < part.end; part.begin += max_chunk(request.tuning)) {
    const sim::Bytes bytes = sim::min(max_chunk(request.tuning), part.end - part.begin);
    fold_round(
        w,
        [&](int rank) {
          Step s;
          s.bytes = bytes;
          s.input_offset = block * rank + part.begin;
          s.output_offset = part.begin;
          return s;
        },
        /*pass_on=*/false);
  }
}

void all_gather(RingWriter& w, const Request& request, Part part) {
  const sim::Bytes block = request.bytes / w.ranks();
  for (; part.begin < part.end; part.begin += max_chunk(request.tuning)) {
    const auto share = [&](int rank) {
      Step s;
      s.bytes = sim::min(max_chunk(request.tuning), part.end - part.begin);
      s.input_offset = part.begin;
      s.output_offset = block * rank + part.begin;
      return s;
    };
    Step own = share(w.self());
    own.to = {w.to()};
    own.uses_input = own.writes_output = true;
    w.add(own);
    copy_round(w, share);
  }
}

/// As many channels on every ring, so that every ring's links carry the same.
int whole_rounds(int channels, int rings) {
  return channels < rings ? channels : channels - channels % rings;
}

}  // namespace

Program compile_ring(const Request& request) {
  const int n = request.ranks();
  Program program;
  program.collective = request.collective;
  program.bytes = request.bytes;
  program.ranks = n;
  program.tuning = request.tuning;
  // What is cut over the channels: the vector, or each rank's share of it.
  const sim::Bytes cut = request.collective == Collective::kAllReduce ? request.bytes : request.bytes / n;
  const auto rings = find_rings(*request.fabric, request.gpus);
  program.channels =
      whole_rounds(channels_for(request.tuning, request.bytes), static_cast<int>(rings.size()));
  program.lists.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(program.channels));
  for (int channel = 0; channel < program.channels; ++channel) {
    const auto& order = rings[static_cast<std::size_t>(channel) % rings.size()];
    const Part part = part_of(cut, channel, program.channels);
    for (int place = 0; place < n; ++place) {
      const int rank = order[static_cast<std::size_t>(place)];
      RingWriter w(order, place, program.steps(rank, channel));
      if (n == 1) {
        copy_alone(w, part.begin, part.end - part.begin);
        continue;
      }
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
      }
    }
  }
  return program;
}

}  // namespace infold::coll
