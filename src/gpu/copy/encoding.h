// How data lie in a receive buffer and on the wire: as they are, or in lines that carry their own flags. A
// flag inside the data needs no fence and no packet of its own, because a warp that polls for the line has
// the data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/units.h"

namespace infold::gpu {

/// Every `line_data` bytes of data make a line of `line` bytes. The default has no flags.
struct Encoding {
  std::uint16_t line_data = 1;
  std::uint16_t line = 1;
  std::uint16_t whole = 1;     ///< data are stored in multiples of this, the last one filled up
  std::uint16_t access = 512;  ///< data that a warp's instruction moves: 32 threads of 16 bytes, less flags
  bool flags_inside = false;   ///< a line says itself that it is there
  std::uint8_t reads =
      1;  ///< how often a reader loads what it polls for: until it is there, and perhaps once more

  /// Whether data lie as they are, in stores of any size. This is asked for every packet, because divisions
  /// are expensive.
  constexpr bool plain() const { return line == 1 && whole == 1; }
  /// Bytes of the buffer that an amount of data takes, from the start of a slot.
  constexpr sim::Bytes wire(sim::Bytes data) const {
    if (plain()) return data;
    return sim::Bytes{(data.count() + whole - 1) / whole * whole / line_data * line};
  }
  /// The data of the whole stores in the first `wire` bytes of a slot, which is what a reader may take.
  constexpr sim::Bytes complete(std::int64_t wire) const {
    return sim::Bytes{wire / this->wire(sim::Bytes{whole}).count() * whole};
  }
  /// Data in the first `wire` bytes of a slot.
  constexpr std::int64_t data_in(std::int64_t wire) const {
    if (plain()) return wire;
    return wire / line * line_data + std::min<std::int64_t>(wire % line, line_data);
  }
};

}  // namespace infold::gpu
