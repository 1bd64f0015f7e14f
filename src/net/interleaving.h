// How addresses are spread over the links of a GPU: block by block, in turn or by a hash.
#pragma once

#include <cstdint>

#include "net/topology/fabric_spec.h"
#include "sim/check.h"
#include "sim/divisor.h"
#include "sim/random.h"
#include "sim/units.h"

namespace infold::net {

class Interleaving {
 public:
  /// `lanes`: links of one GPU. `two_stages`: some packets pass more than one switch, so that more than the
  /// lane is to be chosen.
  Interleaving(const FabricSpec& spec, int lanes, bool two_stages)
      : block_bytes_(spec.interleave_block),
        block_(static_cast<std::uint64_t>(sim::max(spec.interleave_block, sim::Bytes{1}).count())),
        lanes_(static_cast<std::uint64_t>(lanes > 1 ? lanes : 1)),
        hashes_(spec.interleave == Interleave::kHash),
        two_stages_(two_stages) {
    INFOLD_CHECK(spec.interleave_block > sim::Bytes{}, "a block has bytes");
  }

  /// Contiguous bytes that use the same link.
  sim::Bytes block() const { return block_bytes_; }

  /// The spread value of an address: which of several parallel links its block uses.
  std::uint16_t spread_of(std::uint64_t address) const {
    const std::uint64_t block = block_.quotient(address);
    const std::uint64_t round = lanes_.quotient(block);
    const std::uint64_t lanes = lanes_.value();
    std::uint64_t lane = block - round * lanes;
    if (hashes_) {
      lane += lanes_.remainder(sim::mix(round));
      if (lane >= lanes) lane -= lanes;
    }
    // A second stage of switches spreads by the round. Where there is none, the lane alone decides, so that a
    // packet stays on its lane through a switch.
    return static_cast<std::uint16_t>(two_stages_ ? round % (65536 / lanes) * lanes + lane : lane);
  }

 private:
  sim::Bytes block_bytes_;
  sim::Divisor block_;
  sim::Divisor lanes_;
  bool hashes_;
  bool two_stages_;
};

}  // namespace infold::net
