// The available algorithms: one explicit table, and one file per algorithm.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/program/collective.h"
#include "coll/program/program.h"
#include "coll/program/tuning.h"
#include "inc/inc_spec.h"
#include "net/topology/blueprint.h"
#include "sim/go_on.h"

namespace infold::coll {

/// What is to be compiled.
struct Request {
  Collective collective = Collective::kAllReduce;
  sim::Bytes bytes;           ///< size as in nccl-tests; a multiple of the element size
  std::span<const int> gpus;  ///< rank r is GPU gpus[r]
  const net::Blueprint* fabric = nullptr;
  Tuning tuning;
  int root = 0;  ///< root of a broadcast or of a reduction to one rank
  Engine engine = Engine::kSm;
  /// Asked before each list of steps; when it says no, the program is left unfinished and must not be used.
  const sim::GoOn* go_on = nullptr;

  int ranks() const { return static_cast<int>(gpus.size()); }
};

struct Algorithm {
  std::string_view name;
  std::string_view about;
  std::span<const Collective> collectives;  ///< the collectives that it offers
  Program (*write)(const Request&);         ///< writes a program for two ranks or more
  std::span<const Collective> puts = {};  ///< collectives in which it stores into the outputs of other ranks
  bool floods = false;                    ///< every chunk goes to every rank
  bool in_network = false;                ///< needs switches that reduce; implies its own engine
  inc::Unit unit = inc::Unit::kNone;      ///< that such switches must have

  bool offers(Collective c) const;
  /// Stores into outputs can only be fenced, and cannot carry flags, so they need the Simple protocol.
  bool needs_simple(Collective c) const;
};

std::span<const Algorithm> algorithms();
/// Null when there is none of that name.
const Algorithm* find_algorithm(std::string_view name);
/// "all_reduce, broadcast": what an algorithm offers; "ring, tree": which algorithms offer a collective.
std::string offered_by(const Algorithm& algorithm);
std::string who_offers(Collective c);

/// An upper bound of the number of steps of the program, known without writing it.
std::int64_t most_steps(const Algorithm& algorithm, const Request& request);

/// Requires: algorithm.offers(request.collective). A single rank copies its input, whatever the algorithm.
Program compile(const Algorithm& algorithm, const Request& request);

Program write_ring(const Request& request);
Program write_tree(const Request& request);
Program write_halving_doubling(const Request& request);
Program write_direct(const Request& request);
Program write_two_shot(const Request& request);
Program write_hierarchical(const Request& request);
Program write_ccube(const Request& request);
Program write_inc_pull(const Request& request);
Program write_inc_push(const Request& request);
Program write_nvls(const Request& request);
Program write_p2p(const Request& request);

}  // namespace infold::coll
