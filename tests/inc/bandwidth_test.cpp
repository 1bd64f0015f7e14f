// How fast the units are on the 16-GPU machine of Klenk et al. (ISCA 2020), and how much table that takes.
// With 16 bytes of header and 16 of acknowledgement to 128 of payload, six links of 25 GB/s carry 120 GB/s.
#include "world_help.h"

namespace infold::inc {
namespace {

constexpr double kPayloadBound = 6 * 25.0 * 128 / (128 + 16 + 16);

/// GB/s of an all-reduce of `bytes` by all 16 GPUs.
double rate(Style style, sim::Bytes table, std::size_t bytes = std::size_t{2} << 20) {
  IncSpec spec;
  spec.table_bytes = table;
  World world(spec, klenk(), 16, false);
  Job job;
  job.style = style;
  job.members = first_gpus(16);
  job.bytes = bytes;
  const RegionId id = world.start(job);
  world.events.run();
  world.expect_done(job, id);
  world.expect_quiet();
  return static_cast<double>(bytes) / world.finished().in_s() * 1e-9;
}

TEST(Bandwidth, PushComesNearItsPayloadBoundWith256BytesOfTableAPort) {
  const double ample = rate(Style::kPush, 64_KiB);
  EXPECT_GT(ample, 0.95 * kPayloadBound);
  EXPECT_LT(ample, kPayloadBound);
  EXPECT_GT(rate(Style::kPush, 256_B), 0.95 * ample);
}

TEST(Bandwidth, PullNeedsTheTableOfARoundTrip) {
  const double ample = rate(Style::kPull, 64_KiB);
  EXPECT_GT(ample, 0.8 * kPayloadBound);
  EXPECT_GT(rate(Style::kPull, 4_KiB), 0.99 * ample);
  EXPECT_NEAR(rate(Style::kPull, 512_B) / rate(Style::kPull, 128_B), 4, 0.4) << "below the knee it is linear";
  // An entry is taken from the request's leaving to the last reply's being added: the unit, two links, the
  // switch, two packets on the wire and sixteen additions. 96 tables are filled that often.
  const double taken_ns = 10 + 250 + 0.64 + 5.76 + 250 + 150 + 16 * 5.12;
  const double predicted = 16 * 6 * 128 / taken_ns;
  EXPECT_NEAR(rate(Style::kPull, 128_B, std::size_t{8} << 20) / predicted, 1, 0.05);
}

TEST(Bandwidth, PullIsWithin15PercentOfPushAt8MiB) {
  const double push = rate(Style::kPush, 256_B, std::size_t{8} << 20);
  EXPECT_GT(push, 0.97 * kPayloadBound);
  EXPECT_GT(rate(Style::kPull, 4_KiB, std::size_t{8} << 20), 0.85 * push);
}

}  // namespace
}  // namespace infold::inc
