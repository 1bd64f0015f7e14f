// Quantities as people write them ("150 ns", "40 MiB", "25 GB/s", "1.41 GHz"), to and from exact integers.
// No floating point is involved, so 1.41 GHz is 1,410,000,000 Hz and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sim/units.h"

namespace infold::config {

struct ParseError {
  std::string message;
};

template <class T>
using Parsed = std::variant<T, ParseError>;

// All of these require a unit, and refuse a value that is negative, too large or not a whole number of the
// smallest unit.
Parsed<sim::Time> parse_time(std::string_view text);
Parsed<sim::Bytes> parse_bytes(std::string_view text);
Parsed<sim::Bandwidth> parse_bandwidth(std::string_view text);
Parsed<sim::Frequency> parse_frequency(std::string_view text);

/// A size on the command line as nccl-tests takes it: a plain number is bytes, K M G T are binary,
/// and the units of parse_bytes are fine too.
Parsed<sim::Bytes> parse_size(std::string_view text);

// The shortest text that reads back as exactly this quantity. Requires: not negative.
std::string format(sim::Time t);
std::string format(sim::Bytes n);
std::string format(sim::Bandwidth rate);
std::string format(sim::Frequency f);

}  // namespace infold::config
