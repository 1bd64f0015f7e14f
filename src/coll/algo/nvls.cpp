// Follows NVLS of NCCL: workgroups stage the vector in a buffer that is registered with the switches, have
// the switches sum and multicast it there, chunk by chunk, and copy it out. With zero-copy this happens in
// the memory of the user.
#include "coll/algo/in_network.h"

namespace infold::coll {

namespace {

/// The chunk size of the library: large chunks for large messages, so that all chunks in progress are a small
/// part of the message.
sim::Bytes chunk_for(const NvlsTuning& t, sim::Bytes bytes, std::int64_t at_once) {
  sim::Bytes chunk = t.chunk;
  const auto too_large = [&](std::int64_t times, sim::Bytes next) {
    if (bytes < chunk * at_once * times && chunk > next) chunk = next;
  };
  too_large(64, 64_KiB);
  too_large(8, 32_KiB);
  too_large(2, 16_KiB);
  return chunk;
}

/// As many channels as have work for every rank; no channel is left without a part of `whole`.
int channels_of(const NvlsTuning& t, const Request& request, sim::Bytes whole) {
  constexpr std::int64_t kLeast = 1024;
  const std::int64_t worth = request.bytes.count() / (kLeast * request.ranks());
  const auto channels = static_cast<int>(std::clamp<std::int64_t>(worth, 1, t.channels));
  const std::int64_t share = part_of(whole, 0, channels).end.count();
  return share == 0 ? 1 : static_cast<int>((whole.count() + share - 1) / share);
}

}  // namespace

Program write_nvls(const Request& request) {
  const NvlsTuning& t = request.tuning.nvls;
  const int n = request.ranks();
  const bool reduce = reduces(request.collective);
  const bool moves = request.collective != Collective::kBarrier;
  Step s;
  s.net = reduce ? NetOp::kLoadReduce : moves ? NetOp::kMulticast : NetOp::kMeet;
  s.who = reduce                                         ? who_gets(request.collective)
          : request.collective == Collective::kAllGather ? NetWho::kOwner
          : request.collective == Collective::kBroadcast ? NetWho::kRoot
                                                         : NetWho::kAll;
  const bool shares = s.who == NetWho::kOwner;
  const sim::Bytes whole = shares ? request.bytes / n : request.bytes;
  Program p = blank_program(request, channels_of(t, request, whole));
  p.engine = Engine::kSm;
  s.finishes = reduce;
  s.uses_input = s.writes_output = moves;
  if (moves && !t.zero_copy) s.stage = chunk_for(t, request.bytes, std::int64_t{p.channels} * n);
  if (shares) s.stride = whole;
  for (int channel = 0; channel < p.channels; ++channel) {
    const Part part = part_of(whole, channel, p.channels);
    s.input_offset = s.held_offset = s.output_offset = part.begin;
    s.bytes = (part.end - part.begin) * (shares ? n : 1);
    for (int rank = 0; rank < n && (!moves || s.bytes > sim::Bytes{}); ++rank)
      p.steps(rank, channel).push_back(s);
  }
  p.scratch = s.stage * (std::int64_t{t.slots} * n * p.channels);
  return p;
}

}  // namespace infold::coll
