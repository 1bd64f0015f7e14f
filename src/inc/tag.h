// The meaning of Packet::flow() in in-network packets: which region, and whose contributions they carry.
#pragma once

#include <cstdint>

#include "net/packet/packet.h"

namespace infold::inc {

using RegionId = std::uint16_t;
inline constexpr int kMostRegions = 1 << 12;
inline constexpr int kMostMembers = 1 << 10;

/// The sum of the contributions of `count` members, of which `first` has the lowest rank.
struct Tag {
  RegionId region = 0;
  std::uint16_t first = 0;
  std::uint16_t count = 1;

  constexpr std::uint32_t flow() const {
    return static_cast<std::uint32_t>(region) << 20 | static_cast<std::uint32_t>(first) << 10 |
           static_cast<std::uint32_t>(count - 1);
  }
  static constexpr Tag of(std::uint32_t flow) {
    return {static_cast<RegionId>(flow >> 20), static_cast<std::uint16_t>(flow >> 10 & 1023),
            static_cast<std::uint16_t>((flow & 1023) + 1)};
  }
};

/// The key of an entry: region and offset.
using Key = std::uint64_t;
constexpr Key key_of(RegionId region, std::uint32_t offset) {
  return static_cast<Key>(region) << 32 | offset;
}
inline Key key_of(const net::Packet& packet) {
  return key_of(Tag::of(packet.flow()).region, packet.offset());
}

}  // namespace infold::inc
