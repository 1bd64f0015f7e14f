// Computes the figures of one group of channels from those of the memory.
#include "gpu/memory/hbm.h"

#include <algorithm>

namespace infold::gpu {

namespace {
/// The rate of a group, less the share of time in which its channels are refreshed.
sim::Bandwidth group_rate(const HbmSpec& spec) {
  const std::int64_t interval = spec.refresh_interval.count_ps();
  const std::int64_t serving = std::max<std::int64_t>(interval - spec.refresh.count_ps(), 1);
  const double rate = static_cast<double>(spec.bandwidth.count_bytes_per_s()) / spec.groups *
                      static_cast<double>(serving) / static_cast<double>(interval);
  return sim::Bandwidth::bytes_per_s(std::max<std::int64_t>(static_cast<std::int64_t>(rate), 1));
}
}  // namespace

Hbm::Hbm(const HbmSpec& spec)
    : pace_(group_rate(spec)),
      access_(spec.access),
      number_of_groups_(static_cast<std::uint64_t>(spec.groups)),
      groups_(static_cast<std::size_t>(spec.groups)),
      turnaround_(spec.turnaround),
      drain_(static_cast<std::uint32_t>(
          std::max<std::int64_t>(spec.write_drain.count() * spec.channels / spec.groups, 1))) {}

}  // namespace infold::gpu
