// Point to point, as NCCL's send and receive: the sender's workgroups push chunks into the receiver's buffer,
// and the receiver's workgroups copy them out. Sender and receiver may begin at different times; the one that
// comes first waits and holds its SMs.
#include <algorithm>
#include <bit>

#include "coll/program/writing.h"

namespace infold::coll {

namespace {

/// Links between two GPUs: those that join them, or those by which both reach the switches between them.
int links_between(const net::Blueprint& fabric, int a, int b) {
  int direct = 0;
  int of_a = 0;
  int of_b = 0;
  const auto from = static_cast<net::NodeId>(a);
  const auto to = static_cast<net::NodeId>(b);
  for (const net::Cable& c : fabric.cables) {
    if ((c.a == from && c.b == to) || (c.a == to && c.b == from)) ++direct;
    if (fabric.is_gpu(c.a) && fabric.is_gpu(c.b)) continue;
    if ((fabric.role(c.b) == net::NodeRole::kNic) == (fabric.node_of(a) == fabric.node_of(b))) continue;
    if (c.a == from || c.b == from) ++of_a;
    if (c.a == to || c.b == to) ++of_b;
  }
  return std::max(1, direct > 0 ? direct : std::min(of_a, of_b));
}

int power_of_two(int n) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n)));
}

/// The channels of one message: NCCL's addP2pToPlan. All ranks of a communicator may be sent to at once, so
/// that at first each gets its share of the channels; long messages get more.
int p2p_channels(const Request& request, int links) {
  const P2pTuning& t = request.tuning.p2p;
  // Only of workgroups can there be more than a ring has channels.
  const int own = request.tuning.channels;
  const int all = std::min(request.engine == Engine::kSm ? power_of_two(own) : own, t.channels);
  const int most = std::clamp(power_of_two(t.channels_per_link * links), 1, all);
  int share = most;
  while (share > 1 && share * request.ranks() > all) share /= 2;
  const std::int64_t parts = (request.bytes.count() + t.min_part.count() - 1) / t.min_part.count();
  std::int64_t channels = std::clamp<std::int64_t>(parts, 1, share);
  while (request.bytes.count() > t.max_part.count() * channels && channels <= most / 2) channels *= 2;
  return static_cast<int>(channels);
}

}  // namespace

Program write_p2p(const Request& request) {
  const int n = request.ranks();
  const bool one = request.collective == Collective::kSend;
  const int first = one ? request.root : 0;
  int links = 1;
  if (request.fabric != nullptr) {
    links = links_between(*request.fabric, request.gpus[static_cast<std::size_t>(first)],
                          request.gpus[static_cast<std::size_t>(receiver_of(first, n))]);
  }
  Program program = blank_program(request, p2p_channels(request, links));
  Tuning& tuning = program.tuning;
  tuning.slice_steps = tuning.slices_per_chunk = 1;
  const sim::Bytes chunk =
      sim::min(max_chunk(tuning), sim::Bytes{round_up(tuning.p2p.chunk.count(), kVector)});
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    for (int rank = 0; rank < n && !stopped(request); ++rank) {
      std::vector<Steps> sends;
      std::vector<Steps> receives;
      for_pieces(part, chunk, [&](sim::Bytes begin, sim::Bytes bytes) {
        Step send = step_at(begin, bytes);
        send.uses_input = true;
        send.to = {receiver_of(rank, n)};
        if (!one || rank == request.root) add(sends.emplace_back(), send);
        Step receive = step_at(begin, bytes);
        receive.writes_output = true;
        receive.from = {(rank + n - 1) % n};
        if (!one || rank == receiver_of(request.root, n)) add(receives.emplace_back(), receive);
      });
      interleave(sends, receives, tuning, program.steps(rank, channel));
    }
  }
  return program;
}

}  // namespace infold::coll
