// How many packets are simulated as one: what was asked for, and what a collective can take without
// distortion.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/program/program.h"
#include "gpu/machine_spec.h"
#include "sim/units.h"

namespace infold::study {

struct CollectiveJob;

/// The largest number of bytes of consecutive packets that travel as one.
struct BurstChoice {
  bool automatic = true;
  sim::Bytes bytes;  ///< if not automatic; 0 means packet by packet
  /// Whether to go packet by packet where bursts would distort (burst_choice.cpp says where), unless an
  /// iteration would take more than some seconds. Training steps and collectives beside kernels are never
  /// this careful.
  bool careful = true;

  /// The burst for a run of about this many packets over links, acknowledgements included.
  sim::Bytes for_hops(std::int64_t packet_hops) const;
};

/// The burst that `automatic` takes for large messages.
inline constexpr sim::Bytes kAutoBurst = sim::Bytes::kib(4);
/// With up to this many packets over links, a run packet by packet takes about a second.
inline constexpr std::int64_t kCheapPacketHops = 4'000'000;

inline sim::Bytes BurstChoice::for_hops(std::int64_t packet_hops) const {
  if (!automatic) return bytes;
  return packet_hops > kCheapPacketHops ? kAutoBurst : sim::Bytes{};
}

/// The bytes that all its steps send.
sim::Bytes bytes_sent(const coll::Program& program);

/// The payload of the largest packets that its data may travel in.
sim::Bytes packet_payload(const gpu::MachineSpec& machine, const coll::Program& program);

/// Chooses the burst of a job that runs these programs at once, each on the GPUs of its group.
sim::Bytes choose_burst(const CollectiveJob& job, const std::vector<coll::Program>& programs,
                        const std::vector<std::vector<int>>& groups);

}  // namespace infold::study
