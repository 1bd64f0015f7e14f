// The table of algorithms.
#include "coll/algo/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "coll/program/writing.h"
#include "sim/find_named.h"

namespace infold::coll {

namespace {

using enum Collective;
constexpr std::array kRing = {kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kBarrier};
constexpr std::array kTree = {kAllReduce, kBroadcast, kReduce, kBarrier};
constexpr std::array kHalvingDoubling = {kAllReduce, kReduceScatter, kAllGather, kBarrier};
constexpr std::array kDirect = {kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce,
                                kAllToAll,  kBarrier,       kDispatch,  kCombine};
constexpr std::array kDirectPuts = {kAllGather, kAllToAll, kDispatch};
constexpr std::array kOnlyAllReduce = {kAllReduce};
constexpr std::array kInNetwork = {kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce, kBarrier};
constexpr std::array kEngines = {kAllReduce, kReduceScatter, kAllGather, kBroadcast,
                                 kReduce,    kBarrier,       kDispatch,  kCombine};
constexpr std::array kPointToPoint = {kSend, kSendRecv};

constexpr std::array kAlgorithms = {
    Algorithm{"ring", "each rank passes chunks to its neighbour; every link carries the same", kRing,
              write_ring},
    Algorithm{"tree", "two binary trees, each for half of the vector: reduced up, then broadcast down", kTree,
              write_tree},
    Algorithm{"halving-doubling", "exchanges of halves, quarters, eighths ... and back; any number of ranks",
              kHalvingDoubling, write_halving_doubling},
    Algorithm{"direct", "one shot: every rank sends to every other, each reduces for itself", kDirect,
              write_direct, kDirectPuts, /*floods=*/true},
    Algorithm{"two-shot", "every rank gets its share from all, reduces it and stores it into all outputs",
              kOnlyAllReduce, write_two_shot, kOnlyAllReduce},
    Algorithm{"hierarchical", "rings within groups and between groups, or along the sides of a grid",
              kOnlyAllReduce, write_hierarchical},
    Algorithm{"ccube", "the two trees, but a chunk's broadcast starts as soon as it is reduced",
              kOnlyAllReduce, write_ccube},
    Algorithm{"p2p",
              "point to point: workgroups push chunks into the receiver's buffer, as NCCL's send and receive",
              kPointToPoint, write_p2p},
    Algorithm{.name = "nvls",
              .about = "workgroups have switches sum and multicast what they stage, as NCCL's NVLS",
              .collectives = kInNetwork,
              .write = write_nvls,
              .puts = kInNetwork,
              .in_network = true,
              .unit = inc::Unit::kNvls},
    Algorithm{.name = "inc-pull",
              .about = "collective engines ask switches for sums of their parts and multicast them; no SM",
              .collectives = kEngines,
              .write = write_inc_pull,
              .puts = kEngines,
              .in_network = true,
              .unit = inc::Unit::kProposed},
    Algorithm{.name = "inc-push",
              .about = "collective engines send to switches, which sum and multicast the results; no SM",
              .collectives = kEngines,
              .write = write_inc_push,
              .puts = kEngines,
              .in_network = true,
              .unit = inc::Unit::kProposed},
};

/// The steps of a rank that has no other ranks.
Program alone(const Request& request, bool in_network) {
  const int channels = channels_for(request.tuning, request.bytes);
  Program program = blank_program(request, channels);
  if (in_network) program.engine = Engine::kSm;
  for (int channel = 0; channel < channels; ++channel) {
    const Part part = part_of(request.bytes, channel, channels);
    Step s;
    s.uses_input = s.writes_output = true;
    s.finishes = reduces(request.collective);
    s.bytes = part.end - part.begin;
    s.input_offset = s.output_offset = part.begin;
    add(program.steps(0, channel), s);
  }
  return program;
}

}  // namespace

bool Algorithm::offers(Collective c) const {
  return std::ranges::find(collectives, c) != collectives.end();
}

bool Algorithm::needs_simple(Collective c) const {
  return std::ranges::find(puts, c) != puts.end();
}

std::span<const Algorithm> algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  return sim::find_named(kAlgorithms, name);
}

std::string offered_by(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (Collective c : algorithm.collectives) names.push_back(sim::name_of(c));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string who_offers(Collective c) {
  std::vector<std::string_view> names;
  for (const Algorithm& a : kAlgorithms) {
    if (a.offers(c)) names.push_back(a.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

namespace {
/// A send and a receive for each piece of each channel's part.
std::int64_t most_steps_p2p(const Request& request) {
  const Tuning& t = request.tuning;
  const std::int64_t piece =
      std::min(t.buffer.count() / t.buffer_steps, t.p2p.chunk.count()) / kVector * kVector;
  return 2 * request.ranks() * (request.bytes.count() / std::max(piece, kVector) + t.p2p.channels);
}
}  // namespace

std::int64_t most_steps(const Algorithm& algorithm, const Request& request) {
  if (algorithm.offers(kSend)) return most_steps_p2p(request);
  const std::int64_t n = request.ranks();
  const std::int64_t channels = channels_for(request.tuning, request.bytes);
  // A ring goes round twice, a grid of three sides six times; the pieces of a pipeline may be smaller than
  // chunks.
  const bool tokens = request.collective == kDispatch || request.collective == kCombine;
  const sim::Bytes piece =
      tokens ? sim::min(request.tuning.experts.token, max_chunk(request.tuning)) : max_chunk(request.tuning);
  const std::int64_t chunks = request.bytes.count() / (channels * piece.count()) + 1;
  const std::int64_t list = algorithm.floods ? chunks * (2 * n + 4) + 2 * n : 6 * (chunks + n) + 64;
  return list * n * channels;
}

Program compile(const Algorithm& algorithm, const Request& request) {
  return request.ranks() == 1 ? alone(request, algorithm.in_network) : algorithm.write(request);
}

}  // namespace infold::coll
