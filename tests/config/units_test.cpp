// Quantities: exact in, exact out, and words for what is wrong.
#include "config/yaml/units.h"

#include <fmt/format.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "support/results.h"

namespace infold::config {
namespace {

using sim::Bandwidth;
using sim::Bytes;
using sim::Frequency;
using sim::Time;

template <class T>
std::string error(const sim::Result<T>& parsed) {
  return why(parsed);
}

std::int64_t ps(std::string_view text) {
  return parse_time(text).value().count_ps();
}
std::int64_t bytes(std::string_view text) {
  return parse_bytes(text).value().count();
}
std::int64_t cli_size(std::string_view text) {
  return parse_size(text).value().count();
}
std::int64_t rate(std::string_view text) {
  return parse_bandwidth(text).value().count_bytes_per_s();
}
std::int64_t hz(std::string_view text) {
  return parse_frequency(text).value().count_hz();
}

TEST(Units, ReadsEachUnitOfTime) {
  EXPECT_EQ(ps("7 ps"), 7);
  EXPECT_EQ(ps("150 ns"), 150'000);
  EXPECT_EQ(ps("1.5us"), 1'500'000);
  EXPECT_EQ(ps("1.5 \u00b5s"), 1'500'000);
  EXPECT_EQ(ps("2 ms"), 2'000'000'000);
  EXPECT_EQ(ps("3 s"), 3'000'000'000'000);
  EXPECT_EQ(ps("  12 us "), 12'000'000);
}

TEST(Units, ReadsBinaryAndDecimalBytes) {
  EXPECT_EQ(bytes("128 B"), 128);
  EXPECT_EQ(bytes("4KiB"), 4096);
  EXPECT_EQ(bytes("40 MiB"), 41'943'040);
  EXPECT_EQ(bytes("1 GiB"), 1'073'741'824);
  EXPECT_EQ(bytes("1 KB"), 1000);
  EXPECT_EQ(bytes("1 kB"), 1000);
  EXPECT_EQ(bytes("25 MB"), 25'000'000);
  EXPECT_EQ(bytes("0.5 KiB"), 512);
}

TEST(Units, ReadsRatesAndClocks) {
  EXPECT_EQ(rate("25 GB/s"), 25'000'000'000);
  EXPECT_EQ(rate("3TB/s"), 3'000'000'000'000);
  EXPECT_EQ(rate("15.75 GB/s"), 15'750'000'000);
  EXPECT_EQ(hz("1410 MHz"), 1'410'000'000);
  EXPECT_EQ(hz("1 kHz"), 1000);
}

TEST(Units, DecimalsAreExact) {
  // In binary floating point, 1.41e9 and 0.1 are not what they seem.
  EXPECT_EQ(hz("1.41 GHz"), 1'410'000'000);
  EXPECT_EQ(ps("0.1 ns"), 100);
  EXPECT_EQ(ps("0.001 ns"), 1);
  EXPECT_EQ(rate("2.039 TB/s"), 2'039'000'000'000);
  EXPECT_EQ(ps("1.000000000000 s"), 1'000'000'000'000);
  EXPECT_EQ(ps("0.000000000001 s"), 1);
  EXPECT_EQ(bytes("9223372036854775807 B"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ps("000000000000000000000000000000000000000000001.50000000000000000000000000000000000000000 ns"),
            1500);
}

TEST(Units, RefusesWhatIsNotWhole) {
  EXPECT_EQ(error(parse_time("0.5 ps")), "'0.5 ps' is not a whole number of picoseconds");
  EXPECT_EQ(error(parse_bytes("0.1 KiB")), "'0.1 KiB' is not a whole number of bytes");
  EXPECT_EQ(error(parse_bytes("1.5 B")), "'1.5 B' is not a whole number of bytes");
  EXPECT_EQ(error(parse_time("0." + std::string(60, '1') + " s")),
            "'0.1111111111111111111111111111111111111111111111111111111111...' is not a whole number of "
            "picoseconds");
  EXPECT_EQ(error(parse_time("1.0000000000000000000000000000000000001 s")),
            "'1.0000000000000000000000000000000000001 s' is not a whole number of picoseconds");
}

TEST(Units, RefusesWhatIsTooLarge) {
  EXPECT_EQ(error(parse_bytes("9223372036854775808 B")), "'9223372036854775808 B' is too large");
  EXPECT_EQ(error(parse_time("99999999999 s")), "'99999999999 s' is too large");
  EXPECT_EQ(error(parse_bytes("8388608 TiB")), "'8388608 TiB' is too large");
  for (const char* unit : {"GiB", "TiB"}) {
    const std::string text = fmt::format("{} {}", std::string(40, '9'), unit);
    EXPECT_EQ(error(parse_bytes(text)), fmt::format("'{}' is too large", text));
  }
}

TEST(Units, SaysWhatIsMissingOrStrange) {
  EXPECT_EQ(error(parse_bandwidth("25")), "'25' has no unit (write for example '25 GB/s')");
  EXPECT_EQ(error(parse_time("3")), "'3' has no unit (write for example '3 ns')");
  EXPECT_EQ(error(parse_time("-5 ns")), "'-5 ns' is negative");
  EXPECT_EQ(error(parse_time("nan ns")), "'nan ns' is not a number with a unit (write for example '25 ns')");
  EXPECT_EQ(error(parse_time("inf")), "'inf' is not a number with a unit (write for example '25 ns')");
  EXPECT_EQ(error(parse_time("")), "'' is not a number with a unit (write for example '25 ns')");
  EXPECT_EQ(error(parse_time("1.2.3 ns")),
            "'1.2.3 ns' is not a number with a unit (write for example '25 ns')");
  EXPECT_EQ(error(parse_time("1. ns")), "'1. ns' is not a number with a unit (write for example '25 ns')");
  EXPECT_EQ(error(parse_time(".5 ns")), "'.5 ns' is not a number with a unit (write for example '25 ns')");
}

TEST(Units, SuggestsTheUnitMeant) {
  EXPECT_EQ(error(parse_bandwidth("25 gb/s")), "unknown unit 'gb/s' in '25 gb/s' (did you mean 'GB/s'?)");
  EXPECT_EQ(error(parse_bandwidth("25 Gb/s")), "unknown unit 'Gb/s' in '25 Gb/s' (did you mean 'GB/s'?)");
  EXPECT_EQ(error(parse_bytes("4 Kib")), "unknown unit 'Kib' in '4 Kib' (did you mean 'KiB'?)");
  EXPECT_EQ(error(parse_time("4 fortnights")),
            "unknown unit 'fortnights' in '4 fortnights' (units: ps, ns, us, ms, s)");
  EXPECT_EQ(error(parse_time("1e3 ns")), "unknown unit 'e3 ns' in '1e3 ns' (units: ps, ns, us, ms, s)");
}

TEST(Units, SizesAreThoseOfNcclTests) {
  EXPECT_EQ(cli_size("1024"), 1024);
  EXPECT_EQ(cli_size("1K"), 1024);
  EXPECT_EQ(cli_size("4M"), 4 << 20);
  EXPECT_EQ(cli_size("1G"), 1 << 30);
  EXPECT_EQ(cli_size("8k"), 8192);
  EXPECT_EQ(cli_size("1.5M"), 3 << 19);
  EXPECT_EQ(cli_size("4KiB"), 4096);
  EXPECT_EQ(cli_size("25 MB"), 25'000'000);
  EXPECT_EQ(error(parse_size("-1")), "'-1' is negative");
  EXPECT_EQ(error(parse_size("1.5")), "'1.5' is not a whole number of bytes");
  EXPECT_EQ(error(parse_size("12Q")),
            "unknown unit 'Q' in '12Q' (units: B, KB, KiB, MB, MiB, GB, GiB, TB, TiB)");
}

TEST(Units, FormatsTheShortestText) {
  EXPECT_EQ(format(Time::ns(250)), "250 ns");
  EXPECT_EQ(format(Time::ns(7500)), "7.5 us");
  EXPECT_EQ(format(Time::us(1000)), "1 ms");
  EXPECT_EQ(format(Time::us(100)), "100 us");
  EXPECT_EQ(format(Time::ps(1'234'567)), "1234567 ps");
  EXPECT_EQ(format(Time{}), "0 ns");
  EXPECT_EQ(format(Bytes{4096}), "4 KiB");
  EXPECT_EQ(format(Bytes{1536}), "1536 B");
  EXPECT_EQ(format(Bytes{25'000'000}), "25 MB");
  EXPECT_EQ(format(Bytes::gib(80)), "80 GiB");
  EXPECT_EQ(format(Bytes{}), "0 B");
  EXPECT_EQ(format(Bandwidth::gb_per_s(25)), "25 GB/s");
  EXPECT_EQ(format(Bandwidth::gb_per_s(2039)), "2039 GB/s");
  EXPECT_EQ(format(Bandwidth::gb_per_s(3350)), "3.35 TB/s");
  EXPECT_EQ(format(Frequency::mhz(1410)), "1.41 GHz");
}

std::int64_t any_amount() {
  return *rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max());
}
/// Amounts with many zeros at the end, which is what people write.
std::int64_t round_amount() {
  std::int64_t v = *rc::gen::inRange<std::int64_t>(0, 100'000);
  for (int zeros = *rc::gen::inRange(0, 14); zeros > 0; --zeros) v *= 10;
  return v;
}

RC_GTEST_PROP(UnitsProperty, EveryAmountReadsBackAsItself, ()) {
  const std::int64_t v = *rc::gen::arbitrary<bool>() ? any_amount() : round_amount();
  RC_ASSERT(ps(format(Time::ps(v))) == v);
  RC_ASSERT(bytes(format(Bytes{v})) == v);
  RC_ASSERT(cli_size(format(Bytes{v})) == v);
  RC_ASSERT(rate(format(Bandwidth::bytes_per_s(v))) == v);
  RC_ASSERT(hz(format(Frequency::hz(v))) == v);
}

RC_GTEST_PROP(UnitsProperty, NoTextIsTooStrange, (const std::string& text)) {
  for (const std::string& t : {text, "1" + text, text + " ns", "-" + text}) {
    (void)parse_time(t);
    (void)parse_size(t);
    (void)parse_bandwidth(t);
    (void)parse_frequency(t);
  }
}

}  // namespace
}  // namespace infold::config
