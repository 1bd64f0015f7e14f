// The reader on a spec of its own that has every type of field.
#include "config/yaml/reader.h"

#include <array>

#include "sim/params.h"

namespace infold::config {
namespace {

using namespace sim::literals;

enum class Colour { kRed, kGreen };
constexpr std::array kColours = {sim::Named{Colour::kRed, "red", "like blood"},
                                 sim::Named{Colour::kGreen, "green", "like grass"}};
constexpr std::span<const sim::Named<Colour>> names_of(Colour) {
  return kColours;
}

struct Inner {
  static constexpr std::string_view kAbout = "Inside.";
  sim::Time latency = 5_ns;
  template <class V>
  void visit(V& v) {
    v.field("latency", latency, sim::between(0_ns, 1'000'000_ns), "a time");
  }
};

struct Everything {
  static constexpr std::string_view kAbout = "One of each.";
  int count = 1;
  bool flag = false;
  std::string label;
  std::vector<int> list = {1};
  Colour colour = Colour::kRed;
  sim::Bytes size = 1_KiB;
  sim::Bandwidth rate = 1_GBps;
  sim::Frequency clock = 1_MHz;
  Inner inner;
  template <class V>
  void visit(V& v) {
    v.field("count", count, sim::between(1, 10), "a number");
    v.field("flag", flag, "a truth");
    v.field("label", label, "a text");
    v.field("list", list, sim::between(0, 9), "numbers");
    v.field("colour", colour, "a choice");
    v.field("size", size, sim::between(1_B, 1_MiB), "a size");
    v.field("rate", rate, sim::between(1_GBps, 9_GBps), "a rate");
    v.field("clock", clock, sim::between(1_MHz, 9_MHz), "a clock");
    v.group("inner", inner);
  }
};

/// Reads the text over `spec`; the first error, or "".
std::string read(std::string_view text, Everything& spec) {
  const Result<YamlNode> parsed = parse_yaml(text, "f");
  if (const auto* d = std::get_if<Diagnostic>(&parsed)) return to_string(*d);
  ReadContext reading;
  reading.file = "f";
  MapReader reader(std::get<YamlNode>(parsed), "", reading);
  spec.visit(reader);
  reader.finish();
  const Diagnostic* first = first_problem(reading);
  return first == nullptr ? "" : to_string(*first);
}

std::string reader_error(std::string_view text) {
  Everything spec;
  return read(text, spec);
}

TEST(Reader, SetsEveryType) {
  Everything s;
  ASSERT_EQ(read("count: 7\nflag: true\nlabel: 'a: b'\nlist: [3, 0]\ncolour: green\nsize: 2 KiB\n"
                 "rate: 1.5 GB/s\nclock: 2 MHz\ninner: {latency: 1 us}\n",
                 s),
            "");
  EXPECT_EQ(s.count, 7);
  EXPECT_TRUE(s.flag);
  EXPECT_EQ(s.label, "a: b");
  EXPECT_EQ(s.list, (std::vector<int>{3, 0}));
  EXPECT_EQ(s.colour, Colour::kGreen);
  EXPECT_EQ(s.size, 2_KiB);
  EXPECT_EQ(s.rate.count_bytes_per_s(), 1'500'000'000);
  EXPECT_EQ(s.clock, 2_MHz);
  EXPECT_EQ(s.inner.latency, 1_us);
}

TEST(Reader, LeavesWhatIsNotGiven) {
  Everything s;
  s.count = 4;
  ASSERT_EQ(read("size: 3 B", s), "");
  EXPECT_EQ(s.count, 4);
  EXPECT_EQ(s.inner.latency, 5_ns);
}

TEST(Reader, AListMayBeOneNumberOrNone) {
  Everything s;
  ASSERT_EQ(read("list: 6", s), "");
  EXPECT_EQ(s.list, std::vector<int>{6});
  ASSERT_EQ(read("list: []", s), "");
  EXPECT_TRUE(s.list.empty());
}

TEST(Reader, ChecksRanges) {
  EXPECT_EQ(reader_error("inner:\n  latency: 3 s\n"),
            "f:2:12: latency must be between 0 ns and 1 ms, not 3 s");
  EXPECT_EQ(reader_error("count: 11"), "f:1:8: count must be between 1 and 10, not 11");
  EXPECT_EQ(reader_error("count: -1"), "f:1:8: count must be between 1 and 10, not -1");
  EXPECT_EQ(reader_error("list: [1, 10]"), "f:1:11: list must be between 0 and 9, not 10");
}

TEST(Reader, RefusesTheWrongKind) {
  EXPECT_EQ(reader_error("inner: 4"), "f:1:8: inner: expected a map (key: value), not text");
  EXPECT_EQ(reader_error("inner: [1]"), "f:1:8: inner: expected a map (key: value), not a list");
  EXPECT_EQ(reader_error("inner:\n"), "f:1:1: inner: expected a map (key: value), not nothing");
  EXPECT_EQ(reader_error("- 1"), "f:1:1: the file: expected a map (key: value), not a list");
  EXPECT_EQ(reader_error("count: [1]"), "f:1:8: count: expected one value, not a list");
  EXPECT_EQ(reader_error("count: {a: 1}"), "f:1:8: count: expected one value, not a map");
  EXPECT_EQ(reader_error("count:\n"), "f:1:1: count has no value");
  EXPECT_EQ(reader_error("count: 1.5"), "f:1:8: count: expected a whole number, not '1.5'");
  EXPECT_EQ(reader_error("count: 99999999999"), "f:1:8: count: '99999999999' is too large");
  EXPECT_EQ(reader_error("flag: maybe"), "f:1:7: flag: expected true or false, not 'maybe'");
  EXPECT_EQ(reader_error("colour: gren"), "f:1:9: colour: unknown value 'gren' (did you mean 'green'?)");
  EXPECT_EQ(reader_error("colour: x"), "f:1:9: colour: unknown value 'x' (one of red, green)");
  EXPECT_EQ(reader_error("list: {a: 1}"), "f:1:7: list: expected a number or a list of numbers, not a map");
  EXPECT_EQ(reader_error("list: [[1]]"), "f:1:8: list: expected a whole number, not a list");
  EXPECT_EQ(reader_error("size: 4"), "f:1:7: size: '4' has no unit (write for example '4 KiB')");
  EXPECT_EQ(reader_error("label: \"a\\nb\""),
            "f:1:8: label: line breaks and control characters are not allowed");
}

TEST(Reader, RefusesUnknownAndDuplicateKeys) {
  EXPECT_EQ(reader_error("cuont: 1"), "f:1:1: unknown key 'cuont' (did you mean 'count'?)");
  EXPECT_EQ(reader_error("inner:\n  zzz: 1"), "f:2:3: unknown key 'zzz' in inner (keys here: latency)");
  EXPECT_EQ(reader_error("count: 1\nflag: true\ncount: 2\n"),
            "f:3:1: duplicate key 'count' (first on line 1)");
  EXPECT_EQ(reader_error("? [a]\n: 1\n"), "f:1:3: a key must be a word");
}

TEST(Reader, ReportsTheFirstProblemOfTheFile) {
  EXPECT_EQ(reader_error("zzzzzz: 1\nrate: 5\ncount: 0\n").substr(0, 6), "f:1:1:");
  EXPECT_EQ(reader_error("rate: 5\ncount: 0\nzzzzzz: 1\n").substr(0, 6), "f:1:7:");
}

TEST(Reader, BoundsWhatItReads) {
  std::string many = "list: [0";
  for (int i = 0; i < 1024; ++i) many += ",0";
  EXPECT_EQ(reader_error(many + "]"), "f:1:2056: more than 1024 entries in one list");
  EXPECT_EQ(reader_error(std::string(400'000, '[')), "f:1:5001: more than 5000 brackets");
  EXPECT_EQ(reader_error(std::string(4000, '[') + std::string(4000, ']')),
            "f:1:17: nested more than 16 levels deep");
  std::string dashes;
  for (int i = 0; i < 300'000; ++i) dashes += "- ";
  EXPECT_EQ(reader_error(dashes), "f:1:33: nested more than 16 levels deep");
  std::string blocks;
  for (std::size_t i = 0; i < 1000; ++i) blocks += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(reader_error(blocks), "f:17:17: nested more than 16 levels deep");
}

TEST(Reader, RefusesWhatIsNotPlainYaml) {
  EXPECT_EQ(reader_error("count: &a 1\nlist: *a\n"),
            "f:1:8: anchors (&a) are not supported; write the value out or use 'base'");
  EXPECT_EQ(reader_error("count: !!int 1"), "f:1:8: tags (!name) are not supported");
  EXPECT_EQ(reader_error(std::string_view("count: 1\0", 9)), "f:1:9: a NUL byte: this is not a text file");
  EXPECT_EQ(reader_error("count: 1\n\x04zzz: 1"),
            "f:2:1: a control character (0x04): this is not a text file");
  EXPECT_EQ(reader_error("label: \xc3\x28"), "f:1:8: not valid UTF-8 (byte 0xc3)");
  EXPECT_EQ(reader_error("label: \xed\xa0\x80"), "f:1:8: not valid UTF-8 (byte 0xed)");
  EXPECT_EQ(reader_error("---\ncount: 1\n---\ncount: 2\n"), "f:3:1: a second document; a file holds one");
  EXPECT_EQ(reader_error(""), "f:1:1: the file is empty");
  EXPECT_EQ(reader_error("# only this\n"), "f:1:1: the file is empty");
}

/// What is wrong is repeated, and must not move the cursor of a terminal nor be half a character.
TEST(Reader, ShowsWhatIsNotPlainYamlInOneLine) {
  EXPECT_EQ(reader_error("count: &a\rb 1\n"),
            "f:1:8: anchors (&a\\x0db) are not supported; write the value out or use 'base'");
  EXPECT_EQ(reader_error("count: &" + std::string(39, 'a') + "\u00e9\u00e9 1\n"),
            "f:1:8: anchors (&" + std::string(39, 'a') +
                "\u00e9...) are not supported; write the value out or use 'base'");
  EXPECT_EQ(reader_error("la\tbel: 1\n"), "f:1:1: a control character in the key 'la\\x09bel'");
  EXPECT_EQ(reader_error("label: 1\nla\rbel: 1\n"), "f:2:1: a control character in the key 'la\\x0dbel'");
  EXPECT_EQ(reader_error("label: \"\\\r\""), "f:1:11: not valid YAML: unknown escape character: \\x0d");
  EXPECT_EQ(reader_error("label: \"\\\u00e9\""), "f:1:11: not valid YAML: unknown escape character: \\xc3");
}

TEST(Reader, RefusesQuotesThatAreNeverClosed) {
  EXPECT_EQ(reader_error("label: \"x\ncount: 3\n"), "f:1:8: a quote that is never closed");
  EXPECT_EQ(reader_error("label: 'x''\n"), "f:1:8: a quote that is never closed");
  EXPECT_EQ(reader_error("\xef\xbb\xbf\nlabel: \"\\\"\n"), "f:2:8: a quote that is never closed");
  EXPECT_EQ(reader_error("label: \"a \\\" b\"\ncount: 3\n"), "");
  EXPECT_EQ(reader_error("label: 'it''s'\ncount: 3\n"), "");
  EXPECT_EQ(reader_error("label: |-\n  \"x\n"), "");
  EXPECT_EQ(reader_error("label: it's\n"), "");
}

TEST(Reader, AcceptsMarksAndLineEndsOfOtherSystems) {
  EXPECT_EQ(reader_error("\xef\xbb\xbf"
                         "count: 3\r\nflag: true\r\n"),
            "");
  EXPECT_EQ(reader_error("label: \xe2\x82\xac\n"), "");
}

}  // namespace
}  // namespace infold::config
