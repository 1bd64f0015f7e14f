// study::run, behaviour by behaviour: bytes, bounds, iterations, refusals, interruption.
#include "coll/program/values.h"
#include "coll/tune/engine_tuning.h"
#include "job_help.h"

namespace infold::study {
namespace {

TEST(CollectiveRun, ASingleGpuCopiesAndUsesNoLink) {
  const SystemSpec system = small_system();
  for (Collective c : {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather}) {
    CollectiveJob job = job_on(system, c, 100'000_B);
    job.gpus = 1;
    job.check = true;
    const CollectiveResult r = result_of(job);
    EXPECT_EQ(r.wrong, 0u);
    EXPECT_EQ(r.link_bytes_per_gpu, 0u);
    EXPECT_EQ(r.wire_bytes_per_gpu, 0u);
    EXPECT_EQ(r.l2_bytes_per_gpu, 200'000u) << "read once, written once";
    EXPECT_EQ(r.busbw_gbps, 0);
  }
}

TEST(CollectiveRun, NoBytesTakeTheTimeOfALaunch) {
  SystemSpec system = small_system();
  system.machine.gpu.launch = 18_us;
  system.machine.gpu.launch_gap = 2_us;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 0_B);
  job.check = true;
  const CollectiveResult r = result_of(job);
  EXPECT_EQ(r.time, 20_us);
  EXPECT_EQ(r.wrong, 0u);
  EXPECT_EQ(r.packet_hops, 0u);
}

TEST(CollectiveRun, WireBytesAreDataHeadersAcknowledgementsAndFlags) {
  SystemSpec system = small_system(2, 1);
  system.coll.channels = 1;
  const CollectiveResult r = result_of(job_on(system, Collective::kAllGather, 4'096_B));
  // Each sends its 2 KiB as one slice, as a slice is not smaller than 32 KiB if there is no less to send: 16
  // packets with headers, 16 acknowledgements of what it gets, and of the flags a tail to the other and a
  // head back, each a header and 8 bytes.
  EXPECT_EQ(r.link_bytes_per_gpu, 2'048u);
  EXPECT_EQ(r.wire_bytes_per_gpu, 2'048u + 16 * 16 + 16 * 16 + 2 * (16 + 8));
}

TEST(CollectiveRun, MemoryTrafficFollowsTheSteps) {
  SystemSpec system = small_system(4, 1);
  const CollectiveResult r = result_of(job_on(system, Collective::kAllGather, 400'000_B));
  // Own share: read and written here. Each of three others: written into the buffer by a packet, read from
  // there, written to the output.
  EXPECT_EQ(r.l2_bytes_per_gpu, 2u * 100'000 + 3u * 3 * 100'000);
}

TEST(CollectiveRun, BusBandwidthFollowsFromTheTime) {
  const SystemSpec system = small_system();
  const CollectiveResult r = result_of(job_on(system, Collective::kAllReduce, 1_MiB));
  EXPECT_NEAR(r.algbw_gbps, 1'048'576 / r.time.in_s() * 1e-9, 1e-9);
  EXPECT_NEAR(r.busbw_gbps, r.algbw_gbps * 2 * 7 / 8, 1e-9);
}

// On switch planes 128 of every 160 bytes on a GPU's links are data: a header with each packet out, an
// acknowledgement for each packet in.
TEST(CollectiveRun, BusBandwidthStaysBelowThePayloadBoundOfTheLinks) {
  SystemSpec system = small_system(8, 4);
  system.coll.channels = 16;
  const double bound = 4 * 25.0 * 128 / 160;
  for (Collective c : {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather}) {
    for (sim::Bytes burst : {0_B, 4_KiB}) {
      CollectiveJob job = job_on(system, c, 8_MiB);
      job.burst.bytes = burst;
      const CollectiveResult r = result_of(job);
      EXPECT_LE(r.busbw_gbps, bound);
      EXPECT_GE(r.busbw_gbps, bound / 2) << "and comes near it";
    }
  }
}

TEST(CollectiveRun, LinkTimeIsNeverExceeded) {
  const SystemSpec system = small_system(4, 2);
  const CollectiveResult r = result_of(job_on(system, Collective::kAllReduce, 1_MiB));
  const double link_seconds = static_cast<double>(r.wire_bytes_per_gpu) / (2 * 25e9);
  EXPECT_GE(r.time.in_s(), link_seconds);
}

TEST(CollectiveRun, BurstsMoveTheSameBytesInAboutTheSameTime) {
  const SystemSpec system = small_system(8, 4);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 8_MiB);
  const CollectiveResult packets = result_of(job);
  job.burst.bytes = 4_KiB;
  const CollectiveResult bursts = result_of(job);
  EXPECT_EQ(packets.link_bytes_per_gpu, bursts.link_bytes_per_gpu);
  EXPECT_EQ(packets.packet_hops, bursts.packet_hops);
  EXPECT_EQ(packets.wire_bytes_per_gpu, bursts.wire_bytes_per_gpu);
  EXPECT_LT(bursts.events, packets.events / 2);
  EXPECT_NEAR(bursts.time.in_us() / packets.time.in_us(), 1.0, 0.04);
}

TEST(CollectiveRun, AutoGoesPacketByPacketWhileThatIsCheap) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 64_KiB);
  job.burst.automatic = true;
  EXPECT_EQ(result_of(job).burst, 0_B);
  job.bytes = 32_MiB;
  EXPECT_EQ(result_of(job).burst, 4_KiB);
}

/// As a user asks for it.
TEST(CollectiveRun, EnginesAreCountedByTheirOwnPackets) {
  SystemSpec system = small_system();
  system.machine.gpu.copy.payload = system.machine.fabric.packet.payload * 2;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 16_MiB);  // 7.3 million packet-hops by SMs
  job.burst.automatic = true;
  EXPECT_EQ(result_of(job).burst, 4_KiB);
  job.engine = coll::Engine::kDma;
  EXPECT_EQ(result_of(job).burst, 0_B);
}

TEST(CollectiveRun, PacketsAreCountedOnTheLinksTheyTake) {
  SystemSpec system = small_system(64);
  system.machine.fabric.topology = net::Topology::kRing;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 128_KiB);
  job.burst.automatic = true;
  EXPECT_EQ(result_of(job).burst, 0_B) << "neighbours are one link apart, though others are 32";
}

CollectiveJob job_in_bursts(const SystemSpec& system, sim::Bytes bytes) {
  CollectiveJob job = job_on(system, Collective::kAllReduce, bytes);
  job.burst = {.automatic = false, .bytes = 4_KiB};
  return job;
}

TEST(CollectiveRun, BurstsThatWouldDistortGoPacketByPacketWhileThatTakesSeconds) {
  SystemSpec system = small_system();
  CollectiveJob job = job_in_bursts(system, 1_MiB);
  EXPECT_EQ(result_of(job).burst, 0_B);
  job.burst.careful = false;
  EXPECT_EQ(result_of(job).burst, 4_KiB) << "as asked for";
  job = job_in_bursts(system, 16_MiB);
  EXPECT_EQ(result_of(job).burst, 4_KiB) << "slices are large";
  job.bytes = 1_MiB;
  job.algorithm = coll::find_algorithm("inc-push");
  system.machine.inc.alu_rate = system.machine.fabric.link.rate * 2;
  job.system = prepared(system);
  EXPECT_EQ(result_of(job).burst, 4_KiB) << "switches sum, workgroups move nothing";
  system.machine.inc.alu_rate = system.machine.fabric.link.rate;
  job.system = prepared(system);
  EXPECT_EQ(result_of(job).burst, 0_B) << "their adders are busy";
  job.algorithm = coll::find_algorithm("inc-pull");
  EXPECT_EQ(result_of(job).burst, 4_KiB) << "GPUs ask for sums as they have room for them";
  system = small_system(32);
  system.machine.fabric.packet.payload = 16_B;
  EXPECT_EQ(result_of(job_in_bursts(system, 4_MiB)).burst, 4_KiB) << "there are too many packets";
}

TEST(CollectiveRun, UsesAsManySmsAsChannels) {
  SystemSpec system = small_system();
  system.coll.channels = 5;
  EXPECT_EQ(result_of(job_on(system, Collective::kAllReduce, 4_MiB)).sms, 5);
  EXPECT_EQ(result_of(job_on(system, Collective::kAllReduce, 4_B)).sms, 1) << "more are not worth it";
}

TEST(Iterations, OfLargeSizesTakeAboutTheTimeOfOne) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 4_MiB);
  job.burst.bytes = 4_KiB;
  const CollectiveResult one = result_of(job);
  job.iterations = 4;
  const CollectiveResult four = result_of(job);
  EXPECT_NEAR(four.time.in_us() / one.time.in_us(), 1.0, 0.1);
  EXPECT_EQ(four.link_bytes_per_gpu, one.link_bytes_per_gpu);
  EXPECT_EQ(four.packet_hops, 4 * one.packet_hops);
}

/// The time of one of ten all-reduces of 8 bytes.
sim::Time tiny(sim::Time launch, sim::Time host_enqueue) {
  SystemSpec system = small_system(2, 1);
  system.machine.gpu.launch = launch;
  system.machine.gpu.host_enqueue = host_enqueue;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 8_B);
  job.iterations = 10;
  return result_of(job).time;
}

TEST(Iterations, OfTinySizesAreBoundByTheHost) {
  EXPECT_EQ(tiny(1_us, 50_us), 50_us);
}

TEST(Iterations, OfTinySizesWithAFastHostAreBoundByTheKernel) {
  EXPECT_GT(tiny(30_us, 0_us), 30_us);
  EXPECT_LT(tiny(30_us, 0_us), 40_us);
}

TEST(Refusals, OfBuffersThatDoNotFitTheGpu) {
  SystemSpec system = small_system();
  system.machine.gpu.hbm.capacity = 100_MiB;
  system.coll.channels = 1;
  for (auto [bytes, fits] : {std::pair{48_MiB, true}, std::pair{48_MiB + 4_B, false}}) {
    const CollectiveJob job = job_on(system, Collective::kAllReduce, bytes);
    const CollectiveOutcome outcome = run(job, [](double) { return false; });
    EXPECT_EQ(is_refused(outcome), !fits);
    if (is_refused(outcome)) {
      EXPECT_THAT(outcome.error().message, testing::HasSubstr("all_reduce of 50331652 bytes"));
    }
  }
}

TEST(Refusals, OfValuesThatDoNotFitTheSimulator) {
  const SystemSpec system = small_system(16);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 1_GiB);
  job.check = true;
  const CollectiveOutcome outcome = run(job, {});
  ASSERT_TRUE(is_refused(outcome));
  EXPECT_THAT(outcome.error().message, testing::HasSubstr("checking the values"));
}

TEST(Refusals, OfSlicesLargerThanTheBuffer) {
  SystemSpec system = small_system();
  system.coll.slice_steps = 9;
  ASSERT_FALSE(check(system));
  EXPECT_EQ(check(system).error().parameter, "coll.slice_steps");
}

// Everybody would send a chunk, fill the next rank's buffer, and wait for room for ever.
TEST(Refusals, OfChunksThatFillTheBuffer) {
  SystemSpec system = small_system();
  system.coll.buffer_steps = 8;
  system.coll.slice_steps = 2;
  system.coll.slices_per_chunk = 4;
  ASSERT_FALSE(check(system));
  EXPECT_EQ(check(system).error().parameter, "coll.slices_per_chunk");
  system.coll.slices_per_chunk = 3;
  EXPECT_TRUE(check(system));
  CollectiveJob job = job_on(system, Collective::kAllReduce, 16_MiB);
  job.burst.bytes = 4_KiB;
  EXPECT_GT(result_of(job).busbw_gbps, 0);
}

TEST(Refusals, OfMoreChannelsThanSms) {
  SystemSpec system = small_system();
  system.machine.gpu.sms = 3;
  ASSERT_FALSE(check(system));
  EXPECT_EQ(check(system).error().parameter, "coll.channels");
  system.coll.channels = 3;
  EXPECT_TRUE(check(system));
}

TEST(Refusals, OfMachinesThatCanNotBeBuilt) {
  SystemSpec system = small_system();
  system.machine.fabric.topology = net::Topology::kTorus;
  system.machine.fabric.dims = {3, 3};
  ASSERT_FALSE(check(system));
  EXPECT_EQ(check(system).error().parameter, "fabric.dims");
}

// No system can have such a tuning; a program that was compiled with it hangs, and says who waits for whom.
TEST(DeadlockReport, NamesWhoWaitsForWhom) {
  SystemSpec system = small_system(4, 1);
  system.coll.channels = 1;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 64_MiB);
  coll::Tuning tuning = system.coll;
  tuning.slices_per_chunk = 8;
  const std::vector<int> gpus = {0, 1, 2, 3};
  const coll::Program program = coll::compile_on(*job.algorithm,
                                                 {.collective = job.collective,
                                                  .bytes = job.bytes,
                                                  .gpus = gpus,
                                                  .fabric = &job.system->plan().blueprint(),
                                                  .tuning = tuning},
                                                 system.machine.gpu);
  const coll::OwnProgram hangs{.name = "hangs", .program = program, .settings = tuning};
  job.program = &hangs;
  const CollectiveOutcome outcome = run(job, {});
  ASSERT_TRUE(is_deadlock(outcome));
  const auto& waiting = outcome.error().details;
  ASSERT_EQ(waiting.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(waiting[static_cast<std::size_t>(rank)],
              fmt::format(
                  "rank {} channel 0 step 1 of 14 (send), slice at byte 4194304: waits for rank {} to free a "
                  "buffer slot",
                  rank, (rank + 1) % 4));
  }
}

/// Whoever sums: of a rank that never comes, all others can tell.
TEST(DeadlockReport, OfInNetworkDesignsNamesWhoIsMissing) {
  SystemSpec system = small_system(4, 1);
  for (const char* name : {"inc-push", "inc-pull", "nvls"}) {
    SCOPED_TRACE(name);
    CollectiveJob job = job_on(system, Collective::kAllReduce, 64_KiB);
    job.algorithm = coll::find_algorithm(name);
    job.delays = {0_ns, 0_ns, sim::Time::never(), 0_ns};
    const CollectiveOutcome outcome = run(job, {});
    ASSERT_TRUE(is_deadlock(outcome));
    const auto& waiting = outcome.error().details;
    EXPECT_THAT(waiting, testing::Contains("rank 2 never came to the collective"));
    for (const char* rank : {"rank 0 ", "rank 1 ", "rank 3 "})
      EXPECT_THAT(waiting,
                  testing::Contains(testing::AllOf(testing::StartsWith(rank), testing::HasSubstr("wait"))));
  }
}

TEST(Interruption, IsHeededAndSharesGrow) {
  const SystemSpec system = small_system();
  const CollectiveJob job = job_on(system, Collective::kAllReduce, 16_MiB);
  std::vector<double> shares;
  const CollectiveOutcome outcome = run(job, [&](double share) {
    shares.push_back(share);
    return shares.size() < 3;
  });
  EXPECT_TRUE(is_interrupted(outcome));
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_LT(shares[0], shares[2]);
  EXPECT_LT(shares[2], 1.0);
}

}  // namespace
}  // namespace infold::study
