// Every way of using the units, with every policy, group size, table size and skew: sums are exact,
// everything comes once, nothing is left over and nothing blocks.
#include "support/every_value.h"
#include "world_help.h"

namespace infold::inc {
namespace {

struct Case {
  net::FabricSpec fabric;
  int gpus = 0;
};

void try_all(Style style, TableFull full) {
  for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
    for (const Levels levels : {Levels::kEach, Levels::kTop}) {
      if (order == SumOrder::kRank && levels == Levels::kTop) continue;  // refused by check()
      for (const Case& c : {Case{one_switch(), 2}, Case{one_switch(), 5}, Case{klenk(), 16},
                            Case{fat_tree(2, 1, 1), 4}, Case{fat_tree(4, 2, 4), 8}}) {
        for (const sim::Bytes table : {128_B, 256_B, 64_KiB}) {
          for (const sim::Time skew : {0_us, 50_us}) {
            IncSpec spec;
            spec.table_bytes = table;
            spec.table_full = full;
            spec.order = order;
            spec.levels = levels;
            World world(spec, c.fabric, c.gpus);
            Job job;
            job.style = style;
            job.members = first_gpus(c.gpus);
            job.bytes = 100 * 128 + 64;
            sim::Random random(static_cast<std::uint64_t>(c.gpus));
            for (int r = 0; r < c.gpus; ++r)
              job.starts.push_back(sim::Time::ps(
                  static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(skew.count_ps()) + 1))));
            const RegionId id = world.start(job);
            world.events.run();
            SCOPED_TRACE(testing::Message() << c.gpus << " GPUs, order " << static_cast<int>(order)
                                            << ", levels " << static_cast<int>(levels) << ", table "
                                            << table.count() << ", skew " << skew.in_us());
            world.expect_done(job, id);
            world.expect_quiet();
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

class EveryPolicyWhenFull : public testing::TestWithParam<TableFull> {};
TEST_P(EveryPolicyWhenFull, Push) {
  try_all(Style::kPush, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicyWhenFull, testing::ValuesIn(support::every_value<TableFull>()),
                         [](const auto& p) { return support::identifier(p.param); });

TEST(EveryPolicy, Pull) {
  try_all(Style::kPull, TableFull::kStall);
}

}  // namespace
}  // namespace infold::inc
