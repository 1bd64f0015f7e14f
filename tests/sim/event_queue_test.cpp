// The event queue, behaviour by behaviour: what comes first, what comes after, what is counted.
#include "sim/event_queue.h"

#include <algorithm>
#include <functional>

#include "allocation_counter.h"
#include "sim/random.h"

namespace infold::sim {
namespace {

using namespace literals;

/// Notes what it is told and when, and may do something about it.
class Diary final : public Handler {
 public:
  explicit Diary(EventQueue& events) : events_(events) {}
  void handle(std::uint32_t arg) override {
    args.push_back(arg);
    times.push_back(events_.now());
    if (then) then(arg);
  }
  std::vector<std::uint32_t> args;
  std::vector<Time> times;
  std::function<void(std::uint32_t)> then;

 private:
  EventQueue& events_;
};

class EventQueueTest : public testing::Test {
 protected:
  void schedule(Time at, std::uint32_t arg, Priority priority = Priority::kWork) {
    events.schedule(at, priority, diary, arg);
  }
  EventQueue events;
  Diary diary{events};
};

using Args = std::vector<std::uint32_t>;

TEST_F(EventQueueTest, StartsEmptyAtTimeZero) {
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(events.now(), 0_ps);
  EXPECT_FALSE(events.run());
  EXPECT_EQ(events.handled(), 0u);
}

TEST_F(EventQueueTest, HandlesInOrderOfTime) {
  schedule(30_ns, 3);
  schedule(10_ns, 1);
  schedule(20_ns, 2);
  EXPECT_FALSE(events.run());
  EXPECT_EQ(diary.args, (Args{1, 2, 3}));
  EXPECT_EQ(diary.times, (std::vector<Time>{10_ns, 20_ns, 30_ns}));
  EXPECT_EQ(events.now(), 30_ns);
}

TEST_F(EventQueueTest, OrdersThePicosecondsOfOneSlot) {
  for (std::uint32_t ps : {5u, 3u, 9u, 0u, 63u, 1u}) schedule(Time::ps(ps), ps);
  events.run();
  EXPECT_EQ(diary.args, (Args{0, 1, 3, 5, 9, 63}));
}

TEST_F(EventQueueTest, BreaksTiesOfTimeByPriority) {
  schedule(1_ns, 3, Priority::kWork);
  schedule(1_ns, 2, Priority::kArbitrate);
  schedule(1_ns, 1, Priority::kArrive);
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 2, 3}));
}

TEST_F(EventQueueTest, TimeCountsBeforePriority) {
  schedule(1'001_ps, 2, Priority::kArrive);
  schedule(1'000_ps, 1, Priority::kWork);
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 2}));
}

TEST_F(EventQueueTest, BreaksTheRemainingTiesByOrderOfScheduling) {
  for (std::uint32_t i = 0; i < 50; ++i) schedule(7_ns, i);
  events.run();
  EXPECT_TRUE(std::is_sorted(diary.args.begin(), diary.args.end()));
  EXPECT_EQ(diary.args.size(), 50u);
}

TEST_F(EventQueueTest, KeepsTheOrderOfSchedulingBetweenFarAndNearEvents) {
  schedule(5'000'000_ps, 1);  // beyond any horizon when scheduled ...
  schedule(4'999'000_ps, 0);
  diary.then = [&](std::uint32_t arg) {
    if (arg == 0) schedule(5'000'000_ps, 2);  // ... and the same time, scheduled from close by
  };
  events.run();
  EXPECT_EQ(diary.args, (Args{0, 1, 2}));
}

TEST_F(EventQueueTest, KeepsTheOrderOfSchedulingHoweverFarAheadThatWas) {
  schedule(2'000'000'000_ps, 2);  // milliseconds ahead,
  schedule(1'800'000'000_ps, 0);
  schedule(1'999'999'000_ps, 1);
  diary.then = [&](std::uint32_t arg) {
    if (arg == 0) schedule(2'000'000'000_ps, 3);  // microseconds,
    if (arg == 1) schedule(2'000'000'000_ps, 4);  // and close by
  };
  events.run();
  EXPECT_EQ(diary.args, (Args{0, 1, 2, 3, 4}));
}

TEST_F(EventQueueTest, AnEventForNowIsHandledNowAndAfterThoseAlreadyThere) {
  schedule(1_ns, 1);
  schedule(1_ns, 2);
  diary.then = [&](std::uint32_t arg) {
    if (arg == 1) schedule(events.now(), 3);
  };
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 2, 3}));
  EXPECT_EQ(events.now(), 1_ns);
}

TEST_F(EventQueueTest, AnEventForNowOfAnEarlierPriorityOvertakesThoseOfALaterOne) {
  schedule(1_ns, 1);
  schedule(1_ns, 2);
  diary.then = [&](std::uint32_t arg) {
    if (arg == 1) schedule(events.now(), 3, Priority::kArrive);
  };
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 3, 2}));
}

TEST_F(EventQueueTest, WaitsOutLongGaps) {
  const std::vector<Time> gaps = {1_us,         1'048'575_ps,
                                  1'048'576_ps, 1'048'577_ps,
                                  999'999_us,   Time::us(3'600'000'000),
                                  1_ps,         Time::us(24 * std::int64_t{3'600'000'000})};
  std::vector<Time> expected;
  Time at;
  for (Time gap : gaps) expected.push_back(at += gap);
  schedule(expected[0], 0);
  diary.then = [&](std::uint32_t arg) {
    if (arg + 1 < expected.size()) schedule(expected[arg + 1], arg + 1);
  };
  events.run();
  EXPECT_EQ(diary.times, expected);
}

TEST_F(EventQueueTest, AllGapsMayBeScheduledAtOnce) {
  Args expected;
  for (std::uint32_t i = 0; i < 45; ++i) expected.push_back(i);
  for (auto i = expected.rbegin(); i != expected.rend(); ++i) schedule(Time::ps(std::int64_t{1} << *i), *i);
  events.run();
  EXPECT_EQ(diary.args, expected);
}

TEST_F(EventQueueTest, RunsInBatches) {
  for (std::uint32_t i = 0; i < 5; ++i) schedule(Time::ns(i), i);
  EXPECT_TRUE(events.run(2));
  EXPECT_EQ(diary.args, (Args{0, 1}));
  EXPECT_EQ(events.pending(), 3u);
  EXPECT_EQ(events.now(), 1_ns);
  EXPECT_TRUE(events.run(2));
  EXPECT_FALSE(events.run(2));
  EXPECT_EQ(diary.args, (Args{0, 1, 2, 3, 4}));
}

TEST_F(EventQueueTest, ABatchThatEndsWithTheLastEventSaysThatThereAreNoMore) {
  schedule(1_ns, 0);
  EXPECT_FALSE(events.run(1));
}

TEST_F(EventQueueTest, CanBeGivenMoreBetweenBatches) {
  schedule(10_ns, 1);
  schedule(30_ns, 3);
  events.run(1);
  schedule(20_ns, 2);
  schedule(10_ns, 0);
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 0, 2, 3}));
}

TEST_F(EventQueueTest, CanBeUsedAgainAfterItRanDry) {
  schedule(5_us, 1);
  events.run();
  schedule(5_us, 2);
  schedule(9_us, 3);
  events.run();
  EXPECT_EQ(diary.args, (Args{1, 2, 3}));
  EXPECT_EQ(diary.times, (std::vector<Time>{5_us, 5_us, 9_us}));
}

TEST_F(EventQueueTest, CountsWhatIsPendingAndWhatWasHandled) {
  for (std::uint32_t i = 0; i < 10; ++i) schedule(Time::us(i), i);
  EXPECT_EQ(events.pending(), 10u);
  EXPECT_FALSE(events.empty());
  events.run(4);
  EXPECT_EQ(events.pending(), 6u);
  EXPECT_EQ(events.handled(), 4u);
  events.run();
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(events.handled(), 10u);
}

TEST_F(EventQueueTest, TellsEachHandlerItsOwn) {
  Diary other{events};
  events.schedule(1_ns, Priority::kWork, other, 8);
  schedule(1_ns, 7);
  events.run();
  EXPECT_EQ(diary.args, (Args{7}));
  EXPECT_EQ(other.args, (Args{8}));
}

TEST_F(EventQueueTest, HoldsAHundredThousandPendingEvents) {
  Random random(1);
  std::vector<std::pair<Time, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const Time at = Time::ps(static_cast<std::int64_t>(random.below(20'000'000)));
    expected.emplace_back(at, i);
    schedule(at, i);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(events.pending(), 100'000u);
  events.run();
  ASSERT_EQ(diary.args.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(diary.args[i], expected[i].second) << i;
}

/// Keeps itself going: short steps, steps within the picosecond, and long ones.
class Clockwork final : public Handler {
 public:
  explicit Clockwork(EventQueue& events) : events_(events) {}
  void handle(std::uint32_t arg) override {
    static constexpr std::int64_t kSteps[] = {0, 1, 64, 800, 1'000'000, 200, 3'000'000, 40};
    const std::uint32_t step = ++turns_ % 8;
    events_.schedule(events_.now() + Time::ps(kSteps[step]), Priority::kWork, *this, arg);
  }

 private:
  EventQueue& events_;
  std::uint32_t turns_ = 0;
};

TEST_F(EventQueueTest, AllocatesNothingInSteadyState) {
  std::vector<Clockwork> clocks(64, Clockwork{events});
  for (Clockwork& c : clocks) events.schedule(1_ns, Priority::kWork, c, 0);
  events.run(200'000);
  const std::uint64_t before = allocations();
  events.run(200'000);
  EXPECT_EQ(allocations() - before, 0u);
}

}  // namespace
}  // namespace infold::sim
