// Broken invariants abort with what was expected. INFOLD_DCHECK guards the hot path in debug builds only.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace infold::sim {
[[noreturn]] inline void invariant_broken(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
  std::abort();
}
}  // namespace infold::sim

#define INFOLD_CHECK(condition, expected) \
  ((condition) ? static_cast<void>(0) : ::infold::sim::invariant_broken(__FILE__, __LINE__, expected))

#ifdef NDEBUG
#define INFOLD_DCHECK(condition, expected) static_cast<void>(0)
#else
#define INFOLD_DCHECK(condition, expected) INFOLD_CHECK(condition, expected)
#endif
