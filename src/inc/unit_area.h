// What the reduction unit of one port costs in hardware: gate equivalents and bytes of SRAM, counted from the
// structure of the hardware in rtl/ (docs/rtl.md). Nothing is fitted; tests compare it with what Yosys
// counts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "inc/inc_spec.h"

namespace infold::inc {

/// One gate equivalent is a NAND gate with two inputs, four transistors.
struct UnitArea {
  struct Part {
    std::string_view name;
    double gates = 0;
    std::int64_t sram_bits = 0;
  };
  std::array<Part, 4> parts;

  double gates() const;
  sim::Bytes sram() const;
};

/// What the hardware is built for.
struct UnitShape {
  int entries = 0;       ///< of the table
  int results = 0;       ///< places of the result buffer
  int payload = 0;       ///< bytes
  int beat = 0;          ///< bytes that the ALUs add per cycle
  int ports = 0;         ///< of the switch
  bool in_fp32 = false;  ///< a sum takes 32 bits for every bf16 element
};

/// The clock that is assumed: a beat of 16 bytes at 25 GB/s. Faster ALUs are wider, not faster.
inline constexpr sim::Bandwidth kBeatOf16 = sim::Bandwidth::bytes_per_s(25'000'000'000);
/// Packets in the input buffer of the unit in rtl/.
inline constexpr int kInputBuffers = 16;

/// Where the ports of a switch share ALUs (inc.switch_alu_rate), each has its part of them.
UnitShape shape_of(const IncSpec& spec, int ports);
UnitArea area_of(const UnitShape& shape);

}  // namespace infold::inc
