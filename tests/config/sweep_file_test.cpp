// Sweeps from files: what is taken, and the place of what is wrong.
#include "config/sweep_file.h"

#include "config/sweep_range.h"
#include "helpers.h"

namespace infold::config {
namespace {

using Words = std::vector<std::string>;

class SweepFiles : public ScratchTest {
 protected:
  sim::Result<SweepFile> load(const std::string& text) { return load_sweep(write("s.yaml", text)); }
  std::string complaint(const std::string& axes) {
    return error(load("kind: sweep\ncommand: bench all_reduce\naxes:\n" + axes));
  }
};

TEST_F(SweepFiles, ListsRangesOneValueAndColumnsThatWalkTogether) {
  const auto loaded = load(
      "kind: sweep\nname: n\nsummary: s\ncommand: train  --model lenet\naxes:\n"
      "  - --algo: [ring, tree]\n  - --batch: 8\n"
      "  - gpu.hbm.bandwidth: {from: 1 TB/s, to: 2.5 TB/s, step: 500 GB/s}\n    --seq: [1, '', 3, 4]\n"
      "show: step\n");
  ASSERT_EQ(error(loaded), "");
  const auto& sweep = loaded.value().sweep;
  EXPECT_EQ(sweep.command, (Words{"train", "--model", "lenet"}));
  EXPECT_EQ(sweep.points(), 8U);
  EXPECT_EQ(sweep.columns(), (Words{"--algo", "--batch", "gpu.hbm.bandwidth", "--seq"}));
  EXPECT_EQ(sweep.values(6), (Words{"tree", "8", "2 TB/s", "3"}));
  EXPECT_EQ(sweep.values(1), (Words{"ring", "8", "1.5 TB/s", ""}));
  EXPECT_EQ(sweep.show, Words{"step"});
}

TEST_F(SweepFiles, WhatIsShownHasItsPlace) {
  const std::string file = "kind: sweep\ncommand: bench all_reduce\naxes: [{--algo: ring}]\nshow: ";
  const auto places = [&](const std::string& show) { return load(file + show).value().show_at; };
  EXPECT_EQ(places("step"), (std::vector<Position>{{4, 7}}));
  EXPECT_EQ(places("[a, b]"), (std::vector<Position>{{4, 8}, {4, 11}}));
  EXPECT_EQ(places("\n  - a\n  - b"), (std::vector<Position>{{5, 5}, {6, 5}}));
}

TEST_F(SweepFiles, WhatIsWrongHasItsPlace) {
  EXPECT_EQ(complaint("  - inc.table_byte: 1 KiB\n"),
            "s.yaml:4:5: --set: unknown parameter 'inc.table_byte' (did you mean 'inc.table_bytes'?); "
            "options begin with '-'");
  EXPECT_EQ(complaint("  - inc.table_bytes: [1 KiB, 1 KiBs]\n"),
            "s.yaml:4:30: --set: inc.table_bytes: unknown unit 'KiBs' in '1 KiBs' (did you mean 'KiB'?)");
  EXPECT_EQ(complaint("  - --algo: [ring]\n  - --algo: [tree]\n"),
            "s.yaml:5:5: axes: '--algo' is there twice");
  EXPECT_EQ(complaint("  - --algo: [ring, tree]\n    --batch: [1, 2, 3]\n"),
            "s.yaml:5:5: axes: '--batch' has 3 values and walks together with '--algo', which has 2");
  EXPECT_EQ(complaint("  - --batch: []\n"), "s.yaml:4:5: axes: '--batch' has no values");
  EXPECT_EQ(complaint("  - --batch:\n"), "s.yaml:4:5: axes: --batch: expected a value, not nothing");
  EXPECT_EQ(complaint("  - --batch: [[1]]\n"), "s.yaml:4:15: axes: --batch: expected a value, not a list");
  EXPECT_EQ(complaint("  - ring\n"),
            "s.yaml:4:5: axes: expected what varies and its values ('--algo: [ring, tree]'), not text");
  EXPECT_EQ(complaint("  - --batch: {from: 1, to: 8}\n"),
            "s.yaml:4:14: --batch: give either 'step' or 'factor'");
  EXPECT_EQ(complaint("  - --batch: {from: 1, to: 8, stp: 1}\n"),
            "s.yaml:4:14: --batch: give either 'step' or 'factor'");
  EXPECT_EQ(complaint("  - --batch: {from: 1, to: 100000, step: 1}\n  - --seq: [1, 2]\n"),
            "s.yaml:3:1: axes: their product is more than the limit of 100000 points");
  EXPECT_EQ(complaint("  - --batch: {from: 1, to: 2000000000, step: 1}\n"),
            "s.yaml:4:14: --batch: more than 100000 values");
  EXPECT_EQ(error(load("kind: study\ncommand: bench\naxes:\n  - -b: 1M\n")),
            "s.yaml:1:7: kind: expected sweep, not 'study' (run it with 'infold study')");
  EXPECT_EQ(error(load("kind: sweep\naxes:\n  - -b: 1M\n")), "s.yaml:1:1: missing key 'command'");
  EXPECT_EQ(error(load_sweep("table-kne")), "unknown sweep 'table-kne' (did you mean 'table-knee'?)");
}

TEST_F(SweepFiles, EveryShippedOneIsRight) {
  for (const char* name : {"table-knee"}) EXPECT_EQ(error(load_sweep(name)), "") << name;
}

Words range(const RangeText& r) {
  const auto expanded = expand_range(r, 100);
  return expanded ? *expanded : Words{"wrong: " + expanded.error().message};
}

TEST(SweepRange, IsExactAndIncludesItsEnds) {
  EXPECT_EQ(range({"2", "16", "", "2"}), (Words{"2", "4", "8", "16"}));
  EXPECT_EQ(range({"3", "16", "", "2"}), (Words{"3", "6", "12"}));
  EXPECT_EQ(range({"512", "2K", "", "2"}), (Words{"512 B", "1 KiB", "2 KiB"}));
  EXPECT_EQ(range({"0.1 us", "0.3 us", "100 ns", ""}), (Words{"100 ns", "200 ns", "300 ns"}));
  EXPECT_EQ(range({"1 GHz", "1.5 GHz", "250 MHz", ""}), (Words{"1 GHz", "1.25 GHz", "1.5 GHz"}));
  EXPECT_EQ(range({"5", "5", "1", ""}), Words{"5"});
}

TEST(SweepRange, WhatMakesNoRange) {
  EXPECT_EQ(range({"8", "2", "1", ""}), Words{"wrong: 'from' is more than 'to'"});
  EXPECT_EQ(range({"1", "2", "0", ""}), Words{"wrong: 'step' must be more than 0"});
  EXPECT_EQ(range({"-8", "2", "", "2"}), Words{"wrong: 'from' must be more than 0 where there is a factor"});
  EXPECT_EQ(range({"1", "2", "", "1"}), Words{"wrong: 'factor' must be a whole number from 2 on, not '1'"});
  EXPECT_EQ(range({"1 KiB", "2 us", "", "2"}), Words{"wrong: '1 KiB' to '2 us' are not whole numbers, sizes, "
                                                     "times, rates or clocks of one kind with their units"});
  EXPECT_EQ(range({"1", "1000", "1", ""}), Words{"wrong: more than 100 values"});
}

}  // namespace
}  // namespace infold::config
