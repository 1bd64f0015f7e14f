// Schedules of pipelines: order, no deadlock, memory, and bubbles against the published formulas.
#include "train/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace infold::train {
namespace {

/// Units of time that passes of one chunk take.
struct Lengths {
  int forward = 1;
  int input = 1;
  int weights = 1;
  int of(PassKind k) const {
    switch (k) {
      case PassKind::kForward:
        return forward;
      case PassKind::kBackward:
        return input + weights;
      case PassKind::kInputGradient:
        return input;
      case PassKind::kWeightGradient:
        return weights;
    }
    return 0;
  }
};

/// Carries a schedule out, with sends that take no time: when the last stage is through, or nothing where
/// stages wait for each other.
std::optional<int> carried_out(const Schedule& schedule, int chunks, const Lengths& lengths) {
  const int stages = static_cast<int>(schedule.size());
  const int parts = stages * chunks;
  enum Direction { kThere, kBack };
  std::map<std::tuple<Direction, int, int>, int> ended;  // direction, micro-batch, part of the model
  std::vector<std::size_t> next(schedule.size());
  std::vector<int> now(schedule.size());
  const auto when = [&](Direction d, int m, int part) -> std::optional<int> {
    if (d == kThere && part < 0) return 0;
    if (d == kBack && part == parts) {
      d = kThere;  // the loss
      part = parts - 1;
    }
    const auto found = ended.find({d, m, part});
    return found == ended.end() ? std::nullopt : std::optional(found->second);
  };
  for (bool any = true; any;) {
    any = false;
    for (int s = 0; s < stages; ++s) {
      const auto i = static_cast<std::size_t>(s);
      while (next[i] < schedule[i].size()) {
        const Pass& pass = schedule[i][next[i]];
        const int part = pass.chunk * stages + s;
        std::optional<int> ready;
        if (pass.kind == PassKind::kForward) {
          ready = when(kThere, pass.micro_batch, part - 1);
        } else if (pass.kind == PassKind::kWeightGradient) {
          ready = when(kBack, pass.micro_batch, part);
        } else if (when(kThere, pass.micro_batch, part)) {
          ready = when(kBack, pass.micro_batch, part + 1);
        }
        if (!ready) break;
        now[i] = std::max(now[i], *ready) + lengths.of(pass.kind);
        if (pass.kind == PassKind::kForward) ended[{kThere, pass.micro_batch, part}] = now[i];
        if (pass.kind == PassKind::kBackward || pass.kind == PassKind::kInputGradient)
          ended[{kBack, pass.micro_batch, part}] = now[i];
        ++next[i];
        any = true;
      }
    }
  }
  for (std::size_t s = 0; s < schedule.size(); ++s) {
    if (next[s] < schedule[s].size()) return std::nullopt;
  }
  return *std::ranges::max_element(now);
}

struct Case {
  PipelineSpec spec;
  int stages;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int p : {1, 2, 3, 4, 8}) {
    for (const int m : {1, 2, 3, 4, 8, 16, 24}) {
      for (const auto& kind : kScheduleNames) {
        for (const int v : {1, 2, 3}) {
          const PipelineSpec spec{.schedule = kind.value, .micro_batches = m, .virtual_stages = v};
          if (check_pipeline(spec, p)) all.push_back({spec, p});
        }
      }
    }
  }
  return all;
}
std::string name_of(const Case& c) {
  return std::string(sim::name_of(c.spec.schedule)) + " of " + std::to_string(c.stages) + " stages, " +
         std::to_string(c.spec.micro_batches) + " micro-batches, " + std::to_string(c.spec.virtual_stages) +
         " chunks";
}

TEST(Schedule, EveryStageWorksOnEveryMicroBatchOnceInEachDirection) {
  ASSERT_GT(cases().size(), 100U);
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    const Schedule schedule = make_schedule(c.spec, c.stages);
    ASSERT_EQ(schedule.size(), static_cast<std::size_t>(c.stages));
    const bool split = c.spec.schedule == ScheduleKind::kZeroBubble;
    for (const auto& passes : schedule) {
      std::map<std::tuple<PassKind, int, int>, int> count;
      std::map<std::pair<int, int>, int>
          last;  // direction and chunk to micro-batch: gradients end with the last one
      for (const Pass& pass : passes) ++count[{pass.kind, pass.micro_batch, pass.chunk}];
      const int each = c.spec.micro_batches * c.spec.virtual_stages;
      EXPECT_EQ(count.size(), static_cast<std::size_t>(each * (split ? 3 : 2)));
      EXPECT_EQ(passes.size(), count.size());
      for (const Pass& pass : passes) {
        const auto [place, first] =
            last.try_emplace({static_cast<int>(pass.kind), pass.chunk}, pass.micro_batch);
        EXPECT_TRUE(first || place->second < pass.micro_batch) << "in the order of micro-batches";
        place->second = pass.micro_batch;
      }
    }
  }
}

TEST(Schedule, StagesDoNotWaitInACircle) {
  for (const Case& c : cases())
    EXPECT_TRUE(carried_out(make_schedule(c.spec, c.stages), c.spec.virtual_stages, {})) << name_of(c);
}

TEST(Schedule, TheEvaluatorSeesACircle) {
  Schedule s = one_forward_one_backward(2, 2);
  std::swap(s[0][0], s[0][2]);
  EXPECT_FALSE(carried_out(s, 1, {}));
}

/// Idle time, in units of which a stage's work takes `work`.
int bubble(const PipelineSpec& spec, int stages, const Lengths& lengths) {
  const int work =
      spec.micro_batches * spec.virtual_stages * (lengths.forward + lengths.input + lengths.weights);
  return carried_out(make_schedule(spec, stages), spec.virtual_stages, lengths).value() - work;
}

TEST(Schedule, BubblesAreThoseOfTheFormulas) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    const int p = c.stages;
    const int m = c.spec.micro_batches;
    const Lengths t{.forward = 2, .input = 3, .weights = 1};  // of one chunk
    const int whole = t.forward + t.input + t.weights;
    switch (c.spec.schedule) {
      case ScheduleKind::kGpipe:
      case ScheduleKind::k1f1b:
        EXPECT_EQ(bubble(c.spec, p, t), (p - 1) * whole) << "(p - 1) / m of m micro-batches";
        break;
      case ScheduleKind::kInterleaved:
        EXPECT_EQ(bubble(c.spec, p, t), (p - 1) * whole) << "(p - 1) / (v m) of m micro-batches of v chunks";
        break;
      case ScheduleKind::kZeroBubble:
        if (m < p) break;
        EXPECT_EQ(bubble(c.spec, p, {}), p - 1) << "(p - 1) (forward + input - weights)";
        break;
    }
  }
}

TEST(Schedule, ZeroBubbleIsShorterThan1f1bWhateverTheLengths) {
  for (const int p : {2, 4, 8}) {
    for (const int m : {1, p, 2 * p, 4 * p}) {
      for (const Lengths& t : {Lengths{}, Lengths{2, 2, 1}, Lengths{2, 3, 2}, Lengths{1, 1, 3}}) {
        const int zero = bubble({.schedule = ScheduleKind::kZeroBubble, .micro_batches = m}, p, t);
        EXPECT_LT(zero, bubble({.schedule = ScheduleKind::k1f1b, .micro_batches = m}, p, t)) << p << " " << m;
      }
    }
  }
}

TEST(Schedule, HoldsNoMoreMicroBatchesThanPublished) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(name_of(c));
    const int p = c.stages;
    const int m = c.spec.micro_batches;
    const Schedule schedule = make_schedule(c.spec, p);
    for (int s = 0; s < p; ++s) {
      const auto& passes = schedule[static_cast<std::size_t>(s)];
      int now = 0;
      int sum = 0;
      for (const Pass& pass : passes) {
        if (pass.kind == PassKind::kForward) sum = std::max(sum, ++now);
        if (pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient) --now;
      }
      if (c.spec.virtual_stages == 1) {
        EXPECT_EQ(most_in_flight(passes, 1).front(), sum);
      }
      switch (c.spec.schedule) {
        case ScheduleKind::kGpipe:
          EXPECT_EQ(sum, m);
          break;
        case ScheduleKind::k1f1b:
          EXPECT_EQ(sum, std::min(m, p - s));
          break;
        case ScheduleKind::kInterleaved:
          EXPECT_LE(sum, (p - s - 1) * 2 + (c.spec.virtual_stages - 1) * p + 1);
          break;
        case ScheduleKind::kZeroBubble:
          EXPECT_LE(sum, std::min(m, p)) << "what the first stage of 1f1b holds";
          break;
      }
    }
  }
}

TEST(Schedule, PlacesAreNeverSharedByTwoMicroBatches) {
  for (const Case& c : cases()) {
    for (const auto& passes : make_schedule(c.spec, c.stages)) {
      const std::vector<int> places = places_of(passes);
      std::map<std::pair<int, int>, int> taken;  // chunk and place to micro-batch
      for (std::size_t i = 0; i < passes.size(); ++i) {
        const Pass& pass = passes[i];
        const std::pair at{pass.chunk, places[i]};
        if (pass.kind == PassKind::kForward) {
          EXPECT_TRUE(taken.emplace(at, pass.micro_batch).second) << name_of(c);
        } else {
          EXPECT_EQ(taken.at(at), pass.micro_batch) << name_of(c);
        }
        if (pass.kind == PassKind::kBackward || pass.kind == PassKind::kWeightGradient) taken.erase(at);
      }
      EXPECT_TRUE(taken.empty());
    }
  }
}

TEST(Schedule, RefusesWhatItCannotDo) {
  const auto why = [](const PipelineSpec& spec, int stages) {
    const auto checked = check_pipeline(spec, stages);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(why({.schedule = ScheduleKind::k1f1b, .micro_batches = 4, .virtual_stages = 2}, 2),
            "schedule 1f1b has one part of the model on each stage, not 2: take interleaved");
  EXPECT_EQ(why({.schedule = ScheduleKind::kInterleaved, .micro_batches = 4, .virtual_stages = 1}, 2),
            "schedule interleaved needs two parts of the model on each stage, or more");
  EXPECT_EQ(why({.schedule = ScheduleKind::kInterleaved, .micro_batches = 6, .virtual_stages = 2}, 4),
            "schedule interleaved goes round 4 stages: 6 micro-batches are no multiple of that");
}

}  // namespace
}  // namespace infold::train
