// The table of algorithms.
#include "coll/algorithms.h"

#include <array>

namespace infold::coll {

namespace {
constexpr std::array kAlgorithms = {
    Algorithm{"ring", "each rank passes chunks to its neighbour; every link carries the same", compile_ring},
};
}  // namespace

std::span<const Algorithm> algorithms() {
  return kAlgorithms;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& a : kAlgorithms) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace infold::coll
