// Counts allocations of this test program: its operator new is replaced in allocation_counter.cpp.
#pragma once

#include <cstdint>

namespace infold::sim {
std::uint64_t allocations();
}  // namespace infold::sim
