// What the checker says of programs that are wrong, one flaw each: rank, channel, step and why.
#include "coll/program/checker.h"

#include "program_help.h"

namespace infold::coll {
namespace {

/// An all-reduce of two ranks that is right: both send, both fold.
Program exchange(sim::Bytes bytes = 64_B) {
  Program p;
  p.bytes = bytes;
  p.ranks = 2;
  p.channels = 1;
  p.tuning = small_tuning(1);
  p.lists.resize(2);
  for (int rank : {0, 1}) {
    Step send;
    send.bytes = bytes;
    send.uses_input = true;
    send.to = {1 - rank};
    Step fold = send;
    fold.to = {};
    fold.from = {1 - rank};
    fold.writes_output = fold.finishes = true;
    p.steps(rank, 0) = {send, fold};
  }
  return p;
}

TEST(Checker, LetsARightProgramPass) {
  EXPECT_EQ(flaw_of(exchange()), "");
}

TEST(Checker, NamesASendThatIsNeverReceived) {
  Program p = exchange();
  p.steps(0, 0).push_back(p.steps(0, 0).front());
  EXPECT_EQ(flaw_of(p), "rank 0 channel 0 step 3 of 3 (send): sends to rank 1 what that never receives");
}

TEST(Checker, NamesAReceiveOfWhatIsNeverSent) {
  Program p = exchange();
  p.steps(0, 0).erase(p.steps(0, 0).begin());
  EXPECT_EQ(flaw_of(p),
            "rank 1 channel 0 step 2 of 2 (recv-reduce): receives from rank 0, which sends it nothing more");
}

TEST(Checker, NamesACyclicWait) {
  Program p = exchange();
  for (int rank : {0, 1}) std::swap(p.steps(rank, 0)[0], p.steps(rank, 0)[1]);
  EXPECT_EQ(
      flaw_of(p),
      "rank 0 channel 0 step 1 of 2 (recv-reduce): cyclic wait: rank 0 step 1 waits for rank 1 to send, "
      "rank 1 step 1 waits for rank 0 to send");
}

TEST(Checker, NamesACyclicWaitThatOnlyFiniteBuffersMake) {
  EXPECT_EQ(flaw_of(exchange(4_KiB)), "") << "four slots of 1 KiB hold it";
  Program p = exchange(8_KiB);
  p.tuning.slices_per_chunk = 8;
  EXPECT_EQ(
      flaw_of(p),
      "rank 0 channel 0 step 1 of 2 (send): cyclic wait: rank 0 step 1 waits for rank 1 to free one of its "
      "4 buffer slots, rank 1 step 1 waits for rank 0 to free one of its 4 buffer slots");
}

TEST(Checker, NamesAMissingContribution) {
  Program p = exchange();
  p.steps(1, 0)[1].uses_input = false;
  EXPECT_EQ(flaw_of(p), "rank 1 channel 0: byte 0 of its output lacks the contribution of rank 1");
}

TEST(Checker, NamesAContributionCountedTwice) {
  Program p = exchange();
  Step again = p.steps(0, 0)[1];
  again.uses_input = false;
  again.uses_held = true;
  p.steps(0, 0)[1].finishes = false;
  p.steps(0, 0).push_back(again);
  p.steps(1, 0).insert(p.steps(1, 0).begin(), Step(p.steps(1, 0)[0]));
  EXPECT_EQ(flaw_of(p), "rank 0 channel 0 step 3 of 3 (recv-reduce): counts rank 1 twice in byte 0");
}

TEST(Checker, NamesBytesPutInTheWrongPlace) {
  Program p = exchange();
  for (Step& s : p.steps(0, 0)) s.bytes = 32_B;
  for (Step& s : p.steps(1, 0)) s.bytes = 32_B;
  p.steps(1, 0)[1].input_offset = 32_B;
  EXPECT_EQ(flaw_of(p),
            "rank 1 channel 0 step 2 of 2 (recv-reduce): folds byte 0 of one input with byte 32 of another");
}

TEST(Checker, NamesAByteNeverWritten) {
  Program p = exchange();
  for (auto& list : p.lists) {
    for (Step& s : list) s.bytes = 48_B;
  }
  EXPECT_EQ(flaw_of(p), "rank 0: byte 48 of its output is never written");
}

TEST(Checker, NamesSizesThatDiffer) {
  Program p = exchange();
  p.steps(0, 0)[0].bytes = 32_B;
  EXPECT_EQ(
      flaw_of(p),
      "rank 1 channel 0 step 2 of 2 (recv-reduce): receives 64 bytes from rank 0, whose step 1 sends 32");
}

TEST(Checker, NamesAnAverageNotDividedOnce) {
  Program p = exchange();
  p.steps(0, 0)[1].finishes = false;
  EXPECT_EQ(
      flaw_of(p),
      "rank 0 channel 0: byte 0 of its output is never marked complete (an average would not be divided)");
}

TEST(Checker, NamesAPutIntoTheOutputOfARankThatMayNotHaveBegun) {
  Program p;
  p.collective = Collective::kBroadcast;
  p.bytes = 64_B;
  p.ranks = 2;
  p.channels = 1;
  p.tuning = small_tuning(1);
  p.lists.resize(2);
  Step put;
  put.bytes = 64_B;
  put.uses_input = put.writes_output = put.lands = true;
  put.to = {1};
  Step wait;
  wait.bytes = 64_B;
  wait.from = {0};
  wait.landed = true;
  p.lists = {{put}, {wait}};
  EXPECT_EQ(
      flaw_of(p),
      "rank 0 channel 0 step 1 of 1 (copy-put): stores into the output of rank 1, which may not have begun "
      "yet");
  Step ready;
  ready.to = {0};
  Step hear;
  hear.from = {1};
  p.lists = {{hear, put}, {ready, wait}};
  EXPECT_EQ(flaw_of(p), "");
}

TEST(Checker, NamesWhoMayLeaveABarrierEarly) {
  Program p;
  p.collective = Collective::kBarrier;
  p.ranks = 3;
  p.channels = 1;
  p.tuning = small_tuning(1);
  p.lists.resize(3);
  for (int rank : {0, 1, 2}) {
    Step tell;
    tell.to = {(rank + 1) % 3};
    Step hear;
    hear.from = {(rank + 2) % 3};
    p.steps(rank, 0) = {tell, hear};
  }
  EXPECT_EQ(flaw_of(p), "rank 0: may leave the barrier before rank 1 has come to it");
}

TEST(Checker, NamesStepsThatMakeNoSense) {
  const auto with = [](auto change) {
    Program p = exchange();
    change(p.steps(0, 0)[0]);
    const std::string all = flaw_of(p);
    return all.substr(all.find("): ") + 3);
  };
  EXPECT_EQ(with([](Step& s) { s.to = {2}; }), "sends to rank 2, and there are 2 ranks");
  EXPECT_EQ(with([](Step& s) { s.to = {0}; }), "sends to its own rank");
  EXPECT_EQ(with([](Step& s) { s.to = {1, 1}; }), "sends to rank 1 twice");
  EXPECT_EQ(with([](Step& s) { s.to = {}; }), "does nothing");
  EXPECT_EQ(with([](Step& s) { s.uses_input = false; }),
            "has no value: nothing received, no input, nothing held");
  EXPECT_EQ(with([](Step& s) { s.input_offset = 1_B; }),
            "reads input bytes from byte 1 on, and there are 64");
  EXPECT_EQ(with([](Step& s) { s.uses_held = true; }), "reads byte 0 of its output, which was not written");
  EXPECT_EQ(with([](Step& s) { s.bytes = 0_B; }), "has no bytes to work on");
}

}  // namespace
}  // namespace infold::coll
