// The interpreter of steps with a back end that only writes down what it is told: what a slice waits for,
// what happens when it was taken and when it is visible.
#include "coll/program/step_interpreter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <memory>

#include "program_help.h"

namespace infold::coll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <bool kPolls>
struct FakeBackend {
  static constexpr bool kMovesPoll = kPolls;
  std::vector<std::string> told;

  void begin(const Slice& s) { told.push_back(fmt::format("begin {}+{}", s.begin.count(), s.bytes.count())); }
  void pass(const Slice& s) { told.push_back(fmt::format("pass {}+{}", s.begin.count(), s.bytes.count())); }
  void announce(Connection& c, std::uint64_t n) { told.push_back(fmt::format("announce {} to {}", n, c.to)); }
  void give_back(Connection& c, std::uint64_t n) {
    told.push_back(fmt::format("give back {} to {}", n, c.from));
  }
  void step_ended(const Step& s) { told.push_back(name_of(s) + " ended"); }
  std::vector<std::string> take() { return std::exchange(told, {}); }
};
using Fake = FakeBackend<false>;
using PollingFake = FakeBackend<true>;
using Interpreter = StepInterpreter<Connection>;
using Took = Interpreter::Took;

/// Rank 0 of three, with buffers of four slots and slices of 1 KiB.
struct Rig {
  explicit Rig(std::vector<Step> steps, bool flags_inside = false) {
    program.ranks = 3;
    program.channels = 1;
    program.tuning = small_tuning(1);
    program.lists.resize(3);
    program.lists[0] = std::move(steps);
    wiring = std::make_unique<Wiring>(program);
    for (const Wiring::Ends& ends : wiring->connections()) {
      Connection& c = connections.emplace_back();
      c.from = ends.from;
      c.to = ends.to;
    }
    interpreter = std::make_unique<Interpreter>(Interpreter::Setup{.steps = program.lists.data(),
                                                                   .wiring = &wiring->channel(0),
                                                                   .connections = connections,
                                                                   .tuning = &program.tuning,
                                                                   .flags_inside = flags_inside});
  }
  Program program;
  std::unique_ptr<Wiring> wiring;
  std::vector<Connection> connections;
  std::unique_ptr<Interpreter> interpreter;
};

Step moving(sim::Bytes bytes, Peers from, Peers to) {
  Step s;
  s.bytes = bytes;
  s.from = from;
  s.to = to;
  s.uses_input = true;
  return s;
}
Step flags(Peers from, Peers to) {
  Step s;
  s.from = from;
  s.to = to;
  return s;
}

TEST(StepInterpreter, WaitsForDataFromEverySender) {
  Rig rig({moving(32_B, {1, 2}, {})});
  Fake fake;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  EXPECT_EQ(rig.interpreter->waits<Fake>(), (Wait{Wait::What::kData, 1}));
  rig.connections[0].arrived = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  EXPECT_EQ(rig.interpreter->waits<Fake>(), (Wait{Wait::What::kData, 2}));
  EXPECT_THAT(fake.told, IsEmpty());
  rig.connections[1].arrived = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  EXPECT_THAT(fake.told, ElementsAre("begin 0+32"));
}

TEST(StepInterpreter, WaitsForASlotAtEveryReceiver) {
  Rig rig({moving(32_B, {}, {1, 2})});
  Fake fake;
  for (Connection& c : rig.connections) c.sent = 4;
  rig.connections[0].freed = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  EXPECT_EQ(rig.interpreter->waits<Fake>(), (Wait{Wait::What::kSlot, 2}));
  rig.connections[1].freed = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  EXPECT_EQ(rig.connections[0].sent, 5u);
  EXPECT_EQ(rig.connections[1].newest(), 4u);
}

TEST(StepInterpreter, RunsAheadByTheSlotsOfABuffer) {
  Rig rig({moving(10_KiB, {}, {1})});
  Fake fake;
  int begun = 0;
  while (rig.interpreter->take_up(fake) == Took::kSlice) {
    rig.interpreter->taken(fake);
    ++begun;
  }
  EXPECT_EQ(begun, 4);
  EXPECT_EQ(rig.interpreter->waits<Fake>(), (Wait{Wait::What::kSlot, 1}));
  rig.connections[0].freed = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
}

TEST(StepInterpreter, CutsAStepIntoSlices) {
  Rig rig({moving(2'500_B, {}, {1}), moving(16_B, {}, {1})});
  Fake fake;
  while (rig.interpreter->take_up(fake) == Took::kSlice) rig.interpreter->taken(fake);
  EXPECT_THAT(fake.told, ElementsAre("begin 0+1024", "begin 1024+1024", "begin 2048+452", "send ended",
                                     "begin 0+16", "send ended"));
}

TEST(StepInterpreter, GivesSlotsBackWhenASliceIsTaken) {
  Rig rig({moving(32_B, {1, 2}, {1})});
  Fake fake;
  for (Connection& c : rig.connections) c.arrived = c.from == 0 ? 0 : 1;
  ASSERT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  EXPECT_EQ(rig.connections[0].taken, 0u) << "not before all of it was read";
  fake.take();
  rig.interpreter->taken(fake);
  EXPECT_THAT(fake.told, ElementsAre("give back 0 to 1", "give back 0 to 2", "recv-reduce-send ended"));
  EXPECT_EQ(rig.connections[0].taken, 1u);
  EXPECT_EQ(rig.connections[1].taken, 1u);
  EXPECT_TRUE(rig.interpreter->at_end());
}

TEST(StepInterpreter, AnnouncesNothingBeforeWhatWasSentEarlierIsVisible) {
  Rig rig({moving(3_KiB, {}, {1})});
  Fake fake;
  while (rig.interpreter->take_up(fake) == Took::kSlice) rig.interpreter->taken(fake);
  fake.take();
  rig.interpreter->complete(0, 0, 2, fake);
  rig.interpreter->complete(0, 0, 1, fake);
  EXPECT_THAT(fake.told, IsEmpty());
  rig.interpreter->complete(0, 0, 0, fake);
  EXPECT_THAT(fake.told, ElementsAre("announce 0 to 1", "announce 1 to 1", "announce 2 to 1"));
}

TEST(StepInterpreter, AnnouncesToEachReceiverByItself) {
  Rig rig({moving(32_B, {}, {1, 2})});
  Fake fake;
  ASSERT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  fake.take();
  rig.interpreter->complete(0, 1, 0, fake);
  EXPECT_THAT(fake.take(), ElementsAre("announce 0 to 2"));
  rig.interpreter->complete(0, 0, 0, fake);
  EXPECT_THAT(fake.take(), ElementsAre("announce 0 to 1"));
}

TEST(StepInterpreter, PassesFlagsAtOnce) {
  Rig rig({flags({1}, {2}), flags({}, {1})});
  Fake fake;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  rig.connections[0].arrived = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kFlags);
  EXPECT_THAT(fake.take(),
              ElementsAre("pass 0+0", "announce 0 to 2", "give back 0 to 1", "wait-signal ended"));
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kFlags);
  EXPECT_THAT(fake.take(), ElementsAre("pass 0+0", "announce 0 to 1", "signal ended"));
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  EXPECT_TRUE(rig.interpreter->at_end());
}

TEST(StepInterpreter, HoldsAFlagBackBehindDataThatAreNotVisible) {
  Rig rig({moving(32_B, {}, {1}), flags({}, {1})});
  Fake fake;
  ASSERT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  rig.interpreter->taken(fake);
  fake.take();
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kFlags);
  EXPECT_THAT(fake.take(), ElementsAre("pass 0+0", "signal ended"));
  rig.interpreter->complete(0, 0, 0, fake);
  EXPECT_THAT(fake.take(), ElementsAre("announce 0 to 1", "announce 1 to 1"));
}

TEST(StepInterpreter, WaitsForTheFlagOfEverySliceThatLands) {
  Step landed = moving(2_KiB, {1}, {});
  landed.uses_input = false;
  landed.landed = true;
  Rig rig({landed});
  Fake fake;
  rig.connections[0].arrived = 1;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kFlags);
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kNothing);
  EXPECT_FALSE(rig.interpreter->at_end());
  rig.connections[0].arrived = 2;
  EXPECT_EQ(rig.interpreter->take_up(fake), Took::kFlags);
  EXPECT_TRUE(rig.interpreter->at_end());
}

TEST(FlagsInsideData, AreNotAnnounced) {
  Rig rig({moving(32_B, {}, {1})}, true);
  Fake fake;
  ASSERT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
  rig.interpreter->complete(0, 0, 0, fake);
  EXPECT_THAT(fake.told, ElementsAre("begin 0+32"));
  EXPECT_EQ(rig.connections[0].announced, 1u);
}

TEST(FlagsInsideData, DoNotSpeakForWhatLandsInAnOutput) {
  Step lands = moving(32_B, {}, {1});
  lands.lands = true;
  Rig rig({moving(32_B, {}, {1}), lands}, true);
  Fake fake;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(rig.interpreter->take_up(fake), Took::kSlice);
    rig.interpreter->taken(fake);
  }
  fake.take();
  rig.interpreter->complete(1, 0, 1, fake);
  EXPECT_THAT(fake.told, ElementsAre("announce 1 to 1"));
}

TEST(FlagsInsideData, AreWaitedForByWhatMovesThemOrElseByTheInterpreter) {
  Rig polled({moving(32_B, {1}, {})}, true);
  PollingFake polling;
  EXPECT_EQ(polled.interpreter->take_up(polling), Took::kSlice);
  Rig waited({moving(32_B, {1}, {})}, true);
  Fake fake;
  EXPECT_EQ(waited.interpreter->take_up(fake), Took::kNothing);
}

TEST(FlagsInsideData, AreCountedWithTheFlagsBehindThem) {
  Rig rig({moving(32_B, {1}, {}), flags({1}, {})}, true);
  PollingFake polling;
  ASSERT_EQ(rig.interpreter->take_up(polling), Took::kSlice);
  rig.interpreter->taken(polling);
  EXPECT_EQ(rig.interpreter->take_up(polling), Took::kNothing) << "the data's flag is no flag of its own";
  ++rig.connections[0].arrived;
  EXPECT_EQ(rig.interpreter->take_up(polling), Took::kFlags);
}

RC_GTEST_PROP(Connections, AnnounceInOrderWhateverTheOrderOfCompletion, ()) {
  Connection c;
  std::vector<std::uint64_t> announced;
  std::vector<bool> silent;
  std::vector<std::uint64_t> under_way;
  const auto moves =
      *rc::gen::container<std::vector<std::uint32_t>>(200, rc::gen::arbitrary<std::uint32_t>());
  for (const std::uint32_t move : moves) {
    if (move % 2 == 0 && c.sent - c.announced < Connection::kMostSlots) {
      under_way.push_back(c.sent++);
      silent.push_back(move % 8 == 0);
    } else if (!under_way.empty()) {
      const std::size_t which = move / 2 % under_way.size();
      const std::uint64_t number = under_way[which];
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
      c.complete(number, silent[number], [&](std::uint64_t n) { announced.push_back(n); });
    }
    const std::uint64_t first = under_way.empty() ? c.sent : std::ranges::min(under_way);
    RC_ASSERT(c.announced == first);
    std::vector<std::uint64_t> due;
    for (std::uint64_t n = 0; n < first; ++n) {
      if (!silent[n]) due.push_back(n);
    }
    RC_ASSERT(announced == due);
  }
}

TEST(Wiring, JoinsEveryPairOnceOnAChannel) {
  Program p;
  p.ranks = 2;
  p.channels = 2;
  p.lists.resize(4);
  p.steps(1, 1) = {flags({}, {0}), flags({0}, {0})};
  p.steps(0, 1) = {flags({1}, {}), flags({1}, {1})};
  p.steps(0, 0) = {flags({}, {1})};
  const Wiring wiring(p);
  EXPECT_THAT(wiring.connections(),
              ElementsAre(Wiring::Ends{0, 1, 0}, Wiring::Ends{1, 0, 1}, Wiring::Ends{0, 1, 1}));
  EXPECT_THAT(wiring.by_ends(), ElementsAre(0u, 2u, 1u));
  EXPECT_THAT(wiring.channel(1).first, ElementsAre(0u, 1u));
  EXPECT_THAT(wiring.channel(1).connections, ElementsAre(1u, 1u, 2u));
  EXPECT_THAT(wiring.channel(3).connections, ElementsAre(1u, 2u, 1u));
}

}  // namespace
}  // namespace infold::coll
