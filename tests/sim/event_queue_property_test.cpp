// The event queue against a reference that is too simple to be wrong: whatever is scheduled, from outside or
// while handling, near or hours away, is handled in order of (time, priority, scheduling).
#include <rapidcheck.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "sim/event_queue.h"
#include "sim/random.h"

namespace infold::sim {
namespace {

struct Handled {
  std::uint32_t id;
  std::int64_t at;
  bool operator==(const Handled&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Handled& h) {
  return out << h.id << "@" << h.at;
}

/// What an event schedules when it is handled depends on its number alone, so both queues see the same.
class Script {
 public:
  struct Child {
    std::int64_t after;
    Priority priority;
  };
  Script(std::uint64_t seed, std::int64_t longest) : seed_(seed), longest_(longest) {}

  std::vector<Child> children(std::uint32_t id) const {
    Random random(mix(seed_ ^ mix(id)));
    std::vector<Child> out(random.below(3));
    for (Child& c : out) {
      c = {std::min(delay(random), longest_), static_cast<Priority>(random.below(3))};
    }
    return out;
  }

 private:
  static std::int64_t delay(Random& random) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
    switch (random.below(8)) {
      case 0:
        return 0;
      case 1:
        return below(4);
      case 2:
        return below(130);  // this slot, the next one, the one after
      case 3:
        return below(20'000);  // a few packets
      case 4:
        return below(1'100'000);  // up to the horizon
      case 5:
        return 1'048'576 - 200 + below(400);  // just at it
      case 6:
        return below(3'000'000'000);  // milliseconds
      default:
        return below(std::uint64_t{2} * 3600 * 1'000'000'000'000);  // two hours
    }
  }
  std::uint64_t seed_;
  std::int64_t longest_;
};

constexpr std::uint32_t kRoots = 12;
constexpr std::uint32_t kMost = 600;

class Reference {
 public:
  void schedule(std::int64_t at, Priority priority, std::uint32_t id) {
    queue_.push({at, priority, sequence_++, id});
  }
  std::vector<Handled> run(const Script& script) {
    std::vector<Handled> log;
    std::uint32_t next_id = kRoots;
    while (!queue_.empty()) {
      const auto [at, priority, sequence, id] = queue_.top();
      queue_.pop();
      log.push_back({id, at});
      for (const auto& c : script.children(id)) {
        if (next_id < kMost) schedule(at + c.after, c.priority, next_id++);
      }
    }
    return log;
  }

 private:
  using Entry = std::tuple<std::int64_t, Priority, std::uint64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint64_t sequence_ = 0;
};

class Subject final : public Handler {
 public:
  Subject(EventQueue& events, const Script& script) : events_(events), script_(script) {}
  void handle(std::uint32_t id) override {
    log.push_back({id, events_.now().count_ps()});
    for (const auto& c : script_.children(id)) {
      if (next_id_ < kMost)
        events_.schedule(events_.now() + Time::ps(c.after), c.priority, *this, next_id_++);
    }
  }
  std::vector<Handled> log;

 private:
  EventQueue& events_;
  const Script& script_;
  std::uint32_t next_id_ = kRoots;
};

void agrees_with_reference(std::int64_t longest) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Script script(seed, longest);
  Reference reference;
  EventQueue events;
  Subject subject(events, script);
  Random random(mix(seed + 1));
  for (std::uint32_t id = 0; id < kRoots; ++id) {
    const auto at = static_cast<std::int64_t>(random.below(random.below(2) == 0 ? 100 : 5'000'000));
    const auto priority = static_cast<Priority>(random.below(3));
    reference.schedule(at, priority, id);
    events.schedule(Time::ps(at), priority, subject, id);
  }
  const std::uint64_t batch = 1 + random.below(40);
  while (events.run(batch)) {
  }
  RC_ASSERT(subject.log == reference.run(script));
  RC_ASSERT(events.empty());
  RC_ASSERT(events.handled() == subject.log.size());
}

TEST(EventQueueProperty, AgreesWithAReferenceOverHours) {
  EXPECT_TRUE(rc::check([] { agrees_with_reference(std::int64_t{1} << 53); }));
}

TEST(EventQueueProperty, AgreesWithAReferenceOverMilliseconds) {
  EXPECT_TRUE(rc::check([] { agrees_with_reference(2'000'000'000); }));
}

TEST(EventQueueProperty, AgreesWithAReferenceWithinMicroseconds) {
  EXPECT_TRUE(rc::check([] { agrees_with_reference(1'200'000); }));
}

TEST(EventQueueProperty, AgreesWithAReferenceInCrowdedSlots) {
  EXPECT_TRUE(rc::check([] { agrees_with_reference(100); }));
}

}  // namespace
}  // namespace infold::sim
