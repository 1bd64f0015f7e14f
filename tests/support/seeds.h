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

/// `count`: of an ordinary run. Sanitizers take many times as long for a case, and look for faults that show
/// in any of them, so they get a third.
inline Seeds seeds(std::uint64_t count) {
#ifdef __SANITIZE_ADDRESS__
  count = (count + 2) / 3;
#endif
  Seeds s{0, count};
  const char* said = std::getenv("INFOLD_SEEDS");
  std::uint64_t first = 0;
  if (said == nullptr) return s;
  std::istringstream words(said);
  if (words >> first >> count) s = {first, first + count};
  return s;
}

}  // namespace infold::support
