// Tables of choices: written and read back, and refused with the place of what is wrong.
#include "config/tuning_file.h"

#include "helpers.h"

namespace infold::config {
namespace {

class TuningFile : public ScratchTest {
 protected:
  sim::Result<study::TuningTable> load(const std::string& text) {
    return load_tuning(write("tuning.yaml", text));
  }
  std::string complaint(const std::string& text) {
    const auto loaded = load(text);
    if (loaded) return "taken";
    const sim::Error& e = loaded.error();
    return std::to_string(e.place.line) + ":" + std::to_string(e.place.column) + ": " + e.message;
  }
  std::string head = "kind: tuning\ncollective: all_reduce\nsystem: x\ngpus: 8\nchoices:\n";
};

TEST_F(TuningFile, ReadsBackWhatItWrote) {
  study::TuningTable table{coll::Collective::kAllGather, "hgx-h100", 4, {}};
  table.add(sim::Bytes{1000}, {coll::find_algorithm("ring"), coll::Protocol::kLl128});
  table.add(sim::Bytes::mib(3), {coll::find_algorithm("ring"), coll::Protocol::kSimple});
  const auto loaded = load(tuning_text(table));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(tuning_text(loaded.value()), tuning_text(table));
}

TEST_F(TuningFile, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(complaint("kind: system\n" + head.substr(head.find('\n') + 1) +
                      "  - {up_to: 1 KiB, algo: ring, proto: ll}\n"),
            "1:7: kind: expected tuning, not 'system'");
  EXPECT_EQ(complaint(head + "  - {up_to: 1 KiB, algo: rin, proto: ll}\n"),
            "6:26: algo: unknown algorithm 'rin' (did you mean 'ring'?)");
  EXPECT_EQ(complaint(head + "  - {up_to: 1 KiB, algo: ring, proto: l}\n"),
            "6:39: proto: unknown value 'l' (did you mean 'll'?)");
  EXPECT_EQ(
      complaint(head +
                "  - {up_to: 2 KiB, algo: ring, proto: ll}\n  - {up_to: 2 KiB, algo: ring, proto: ll}\n"),
      "7:13: up_to must be more than in the row before");
  EXPECT_EQ(complaint(head + "  - {algo: ring, proto: ll}\n"), "6:5: missing key 'up_to'");
  EXPECT_EQ(complaint("kind: tuning\n"), "1:1: missing key 'collective'");
  EXPECT_EQ(complaint(head.substr(0, head.size() - 1) + " []\n"),
            "5:1: choices: expected a list with at least one row");
}

TEST_F(TuningFile, SaysThatThereIsNoFile) {
  const auto loaded = load_tuning("/nonexistent/t.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(to_string(loaded.error()), "/nonexistent/t.yaml: no such file");
}

}  // namespace
}  // namespace infold::config
