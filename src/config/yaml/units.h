// Quantities as people write them ("150 ns", "40 MiB", "25 GB/s", "1.41 GHz"), to and from exact integers.
// No floating point is involved, so 1.41 GHz is 1,410,000,000 Hz and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"
#include "sim/units.h"

namespace infold::config {

// All of these require a unit, and refuse a value that is negative, too large or not a whole number of the
// smallest unit.
sim::Result<sim::Time> parse_time(std::string_view text);
sim::Result<sim::Bytes> parse_bytes(std::string_view text);
sim::Result<sim::Bandwidth> parse_bandwidth(std::string_view text);
sim::Result<sim::Frequency> parse_frequency(std::string_view text);

/// A size on the command line as nccl-tests takes it: a plain number is bytes, and K M G T are binary. The
/// units of parse_bytes are accepted, too.
sim::Result<sim::Bytes> parse_size(std::string_view text);

/// Whether a text is a number that lacks only its unit ("128").
bool lacks_unit(std::string_view text);

/// The units that texts of this type of quantity are written with: first the commonest, then from the largest
/// down.
std::vector<std::string_view> units_of(sim::Time);
std::vector<std::string_view> units_of(sim::Bytes);
std::vector<std::string_view> units_of(sim::Bandwidth);
std::vector<std::string_view> units_of(sim::Frequency);

// These return the shortest text that reads back as exactly this quantity. Requires: not negative.
std::string format(sim::Time t);
std::string format(sim::Bytes n);
std::string format(sim::Bandwidth rate);
std::string format(sim::Frequency f);

}  // namespace infold::config
