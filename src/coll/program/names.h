// What programs of collectives call by name: in options, in files and in what is printed.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/params.h"

namespace infold::coll {

enum class Collective : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kAllToAll,
  kBarrier,
  kSend,
  kSendRecv,
  kDispatch,
  kCombine
};
inline constexpr std::array kCollectiveNames = {
    sim::Named{Collective::kAllReduce, "all_reduce", "every rank gets the reduction of all ranks' vectors"},
    sim::Named{Collective::kReduceScatter, "reduce_scatter", "every rank gets its share of the reduction"},
    sim::Named{Collective::kAllGather, "all_gather", "every rank gets the shares of all ranks"},
    sim::Named{Collective::kBroadcast, "broadcast", "every rank gets the root's vector"},
    sim::Named{Collective::kReduce, "reduce", "the root gets the reduction of all ranks' vectors"},
    sim::Named{Collective::kAllToAll, "all_to_all", "every rank gets a share of every rank's vector"},
    sim::Named{Collective::kBarrier, "barrier", "no rank ends before all have begun; moves no data"},
    sim::Named{Collective::kSend, "send", "the rank behind the root gets the root's vector"},
    sim::Named{Collective::kSendRecv, "sendrecv", "every rank gets the vector of the rank before it"},
    sim::Named{Collective::kDispatch, "dispatch", "every token goes to the ranks of its experts"},
    sim::Named{Collective::kCombine, "combine",
               "every token's rank gets the sum of what its experts' ranks have"},
};
constexpr std::span<const sim::Named<Collective>> names_of(Collective) {
  return kCollectiveNames;
}

enum class Engine : std::uint8_t { kSm, kDma, kAce, kCollectiveEngine };
inline constexpr std::array kEngineNames = {
    sim::Named{Engine::kSm, "sm", "workgroups that own their SMs while the collective runs"},
    sim::Named{Engine::kDma, "dma", "copy engines move, short kernels on SMs add (as ConCCL)"},
    sim::Named{Engine::kAce, "ace", "an accelerator at the GPU's ports with memory and adders of its own"},
    sim::Named{Engine::kCollectiveEngine, "collective",
               "the GPU's collective engine, which walks in-network programs"},
};
constexpr std::span<const sim::Named<Engine>> names_of(Engine) {
  return kEngineNames;
}

enum class Protocol : std::uint8_t { kSimple, kLl, kLl128 };
inline constexpr std::array kProtocolNames = {
    sim::Named{Protocol::kSimple, "simple", "whole slices, then a fence, then a flag of their own"},
    sim::Named{Protocol::kLl, "ll", "4 bytes of flag beside every 4 of data; threads poll for them"},
    sim::Named{Protocol::kLl128, "ll128", "8 bytes of flag in every 128; warps poll for them"},
};
constexpr std::span<const sim::Named<Protocol>> names_of(Protocol) {
  return kProtocolNames;
}

/// What a step asks of switches that reduce. Such steps are the same on every rank, and concern all of them.
enum class NetOp : std::uint8_t { kNone, kMeet, kReduceWrite, kLoadReduce, kMulticast };
inline constexpr std::array kNetOpNames = {
    sim::Named{NetOp::kNone, "none", "nothing"},
    sim::Named{NetOp::kMeet, "meet", "no rank goes on before all have come; moves no data"},
    sim::Named{NetOp::kReduceWrite, "reduce-write", "every rank pushes its input; outputs get the sum"},
    sim::Named{NetOp::kLoadReduce, "load-reduce", "the home rank of a part asks for its sum; outputs get it"},
    sim::Named{NetOp::kMulticast, "multicast", "input is stored in all outputs"},
};
constexpr std::span<const sim::Named<NetOp>> names_of(NetOp) {
  return kNetOpNames;
}

/// The ranks whose output gets a sum, or whose input is multicast.
enum class NetWho : std::uint8_t { kAll, kRoot, kOwner, kExperts };
inline constexpr std::array kNetWhoNames = {
    sim::Named{NetWho::kAll, "all", "every rank's"},
    sim::Named{NetWho::kRoot, "root", "the root's"},
    sim::Named{NetWho::kOwner, "owner", "each rank's, of an equal share of the bytes"},
    sim::Named{NetWho::kExperts, "experts", "the owner's and its experts' ranks', token by token"},
};
constexpr std::span<const sim::Named<NetWho>> names_of(NetWho) {
  return kNetWhoNames;
}

}  // namespace infold::coll
