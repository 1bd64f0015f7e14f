// The algorithms there are: one explicit table, one file an algorithm.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "coll/collective.h"
#include "coll/program.h"
#include "coll/tuning.h"
#include "net/blueprint.h"

namespace infold::coll {

/// What is to be compiled.
struct Request {
  Collective collective = Collective::kAllReduce;
  sim::Bytes bytes;           ///< size as nccl-tests means it; a multiple of the element size
  std::span<const int> gpus;  ///< rank r is GPU gpus[r]
  const net::Blueprint* fabric = nullptr;
  Tuning tuning;

  int ranks() const { return static_cast<int>(gpus.size()); }
};

struct Algorithm {
  std::string_view name;
  std::string_view about;
  Program (*compile)(const Request&);
};

std::span<const Algorithm> algorithms();
/// Null when there is none of that name.
const Algorithm* find_algorithm(std::string_view name);

Program compile_ring(const Request& request);

}  // namespace infold::coll
