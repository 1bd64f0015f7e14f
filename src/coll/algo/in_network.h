// What the in-network algorithms share when they write programs. Internal to coll/.
#pragma once

#include "coll/program/writing.h"

namespace infold::coll {

/// The largest range that switches can handle as one: they count its bytes in 32 bits.
inline constexpr sim::Bytes kMostInNetwork = sim::Bytes::gib(2);

/// A program for the collective engine of a GPU, with the same steps for every rank.
inline Program engine_program(const Request& request, const std::vector<Step>& steps) {
  Program p = blank_program(request, 1);
  p.engine = Engine::kCollectiveEngine;
  for (auto& list : p.lists) list = steps;
  return p;
}

inline Step meet() {
  Step s;
  s.net = NetOp::kMeet;
  return s;
}

/// Steps of one kind that cover the vector, or the share of every rank.
inline void add_in_network(std::vector<Step>& steps, const Request& request, NetOp op, NetWho who) {
  const bool shares = who == NetWho::kOwner;
  const int n = shares ? request.ranks() : 1;
  const sim::Bytes whole = request.bytes / n;
  const sim::Bytes most{kMostInNetwork.count() / n / kVector * kVector};
  for_pieces({sim::Bytes{}, whole}, most, [&](sim::Bytes begin, sim::Bytes bytes) {
    Step s = step_at(begin, bytes * n);
    s.net = op;
    s.who = who;
    s.stride = shares ? whole : sim::Bytes{};
    s.finishes = op != NetOp::kMulticast;
    s.uses_input = s.writes_output = true;
    add(steps, s);
  });
}

/// One step for all tokens of dispatch or combine.
inline void add_tokens(std::vector<Step>& steps, const Request& request, NetOp op) {
  Step s = step_at({}, request.bytes);
  s.net = op;
  s.who = NetWho::kExperts;
  s.stride = request.bytes / request.ranks();
  s.finishes = op != NetOp::kMulticast;
  s.uses_input = s.writes_output = true;
  add(steps, s);
}

/// Which ranks get the result of a collective that reduces.
inline NetWho who_gets(Collective c) {
  return c == Collective::kAllReduce ? NetWho::kAll
         : c == Collective::kReduce  ? NetWho::kRoot
                                     : NetWho::kOwner;
}

/// The steps of collectives that only multicast or only meet. Outputs may be stored into when all ranks have
/// come.
inline void add_multicast(std::vector<Step>& steps, const Request& request) {
  steps.push_back(meet());
  if (request.collective == Collective::kDispatch) return add_tokens(steps, request, NetOp::kMulticast);
  if (request.collective != Collective::kBarrier)
    add_in_network(steps, request, NetOp::kMulticast,
                   request.collective == Collective::kBroadcast ? NetWho::kRoot : NetWho::kOwner);
}

}  // namespace infold::coll
