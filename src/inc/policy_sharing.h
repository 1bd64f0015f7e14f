// How collectives in progress share the table of a port: one table for all, or an equal part for each job or
// bucket.
#pragma once

#include <algorithm>
#include <cstdint>

#include "inc/inc_spec.h"
#include "inc/tag.h"

namespace infold::inc {

/// Into how many parts a table is divided.
constexpr std::uint32_t partitions_of(Sharing sharing, std::uint32_t jobs, std::uint32_t buckets) {
  switch (sharing) {
    case Sharing::kShared:
      return 1;
    case Sharing::kByJob:
      return jobs;
    case Sharing::kByBucket:
      return buckets;
  }
  return 1;
}

/// Which part a region uses: a number, not an index.
constexpr std::uint32_t partition_of(Sharing sharing, int job, RegionId bucket) {
  switch (sharing) {
    case Sharing::kShared:
      return 0;
    case Sharing::kByJob:
      return static_cast<std::uint32_t>(job);
    case Sharing::kByBucket:
      return bucket;
  }
  return 0;
}

/// Entries that one part may have: an equal share, and at least one.
constexpr std::uint32_t quota(std::uint32_t capacity, std::uint32_t partitions) {
  return std::max(capacity / partitions, std::uint32_t{1});
}

}  // namespace infold::inc
