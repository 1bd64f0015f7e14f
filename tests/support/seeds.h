// Seeds of tests that try random cases: always the same, unless INFOLD_SEEDS says "first count"
// (fuzz/machines).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace infold::support {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

inline Seeds seeds(std::uint64_t count) {
  Seeds s{0, count};
  const char* said = std::getenv("INFOLD_SEEDS");
  std::uint64_t first = 0;
  if (said == nullptr) return s;
  std::istringstream words(said);
  if (words >> first >> count) s = {first, first + count};
  return s;
}

}  // namespace infold::support
