// Programs of MSCCL: what becomes a program of ours, what is refused, and ours written and read again.
#include "formats/msccl/msccl_program.h"

#include <rapidcheck/gtest.h>

#include "coll/algo/algorithms.h"
#include "coll/program/checker.h"
#include "coll/program/fit.h"
#include "formats/msccl/msccl_export.h"
#include "helpers.h"

namespace infold::formats {
namespace {

using namespace sim::literals;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string step(int number, std::string_view type, std::string_view from, int from_chunk,
                 std::string_view to, int to_chunk, int wait_block = -1, int wait_step = -1) {
  return fmt::format(
      "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"1\" "
      "depid=\"{}\" deps=\"{}\" "
      "hasdep=\"0\"/>\n",
      number, type, from, from_chunk, to, to_chunk, wait_block, wait_step);
}
std::string block(int id, int send, int recv, const std::string& steps, int channel = 0) {
  return fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n{}</tb>\n", id, send, recv, channel,
                     steps);
}
std::string gpu(int id, int inputs, int outputs, int scratch, const std::string& blocks) {
  return fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n{}</gpu>\n", id,
                     inputs, outputs, scratch, blocks);
}
std::string algo(std::string_view collective, int chunks, int gpus, bool in_place, const std::string& body) {
  return fmt::format(
      "<algo name=\"a\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
      "inplace=\"{}\" "
      "outofplace=\"{}\" minBytes=\"0\" maxBytes=\"0\">\n{}</algo>\n",
      chunks, gpus, collective, in_place ? 1 : 0, in_place ? 0 : 1, body);
}

/// Every GPU sends all its chunks' shares to every other, which adds them: in place, with threadblocks that
/// wait for each other.
std::string all_pairs(int n) {
  std::string body;
  for (int g = 0; g < n; ++g) {
    std::string blocks;
    std::string adds;
    int id = 1;
    int number = 0;
    for (int peer = 0; peer < n; ++peer) {
      if (peer == g) continue;
      const int slot = peer < g ? peer : peer - 1;
      adds += step(number++, "re", "s", slot, "i", g, id, 1);
      // The last step sends the sum on, once the adder is done.
      blocks += block(id, peer, peer,
                      step(0, "s", "i", peer, "o", peer) + step(1, "r", "i", g, "s", slot) +
                          step(2, "s", "i", g, "o", g, 0, n - 2) + step(3, "r", "i", peer, "i", peer));
      ++id;
    }
    body += gpu(g, n, 0, n - 1, block(0, -1, -1, adds) + blocks);
  }
  return algo("allreduce", n, n, true, body);
}

ProgramImport taken_program(const std::string& text) {
  auto read = read_msccl(text, "a.xml");
  EXPECT_EQ(error_of(read), "");
  return read ? std::move(*read) : ProgramImport{};
}
std::string program_refusal(const std::string& text) {
  return error_of(read_msccl(text, "a.xml"));
}

TEST(Msccl, ThreadblocksBecomeChannels) {
  std::string body;
  for (int g = 0; g < 2; ++g) {
    body += gpu(g, 1, 2, 0,
                block(0, 1 - g, 1 - g, step(0, "s", "i", 0, "o", g) + step(1, "r", "i", 0, "o", 1 - g)) +
                    block(1, -1, -1, step(0, "cpy", "i", 0, "o", g)));
  }
  const ProgramImport read = taken_program(algo("allgather", 2, 2, false, body));
  const coll::Program& p = read.own.program;
  EXPECT_EQ(p.collective, coll::Collective::kAllGather);
  EXPECT_EQ(p.ranks, 2);
  EXPECT_EQ(p.channels, 2);
  EXPECT_EQ(p.tuning.protocol, coll::Protocol::kLl);
  EXPECT_EQ(p.steps(0, 0).size(), 2U);
  EXPECT_EQ(p.steps(1, 1).size(), 1U);
  EXPECT_FALSE(coll::find_flaw(p));
}

TEST(Msccl, InPlaceWhatStaysIsCopied) {
  std::string body;
  for (int g = 0; g < 2; ++g)
    body += gpu(g, 1, 2, 0,
                block(0, 1 - g, 1 - g, step(0, "s", "i", 0, "o", g) + step(1, "r", "i", 0, "o", 1 - g)));
  const ProgramImport read = taken_program(algo("allgather", 2, 2, true, body));
  EXPECT_EQ(read.own.program.steps(0, 0).size(), 3U);
  EXPECT_THAT(read.notes.assumed, Contains(HasSubstr("is copied to the output")));
}

TEST(Msccl, ThreadblocksThatWaitForEachOtherAreOneWorkgroup) {
  for (const int n : {2, 4, 8}) {
    const ProgramImport read = taken_program(all_pairs(n));
    EXPECT_EQ(read.own.program.channels, 1) << n;
    EXPECT_FALSE(coll::find_flaw(read.own.program));
    EXPECT_THAT(read.notes.assumed, Contains(HasSubstr("are one workgroup")));
    // What arrives is added where it arrives, all of it in one step.
    int adds = 0;
    for (const coll::Step& s : read.own.program.steps(0, 0)) adds += s.finishes ? 1 : 0;
    EXPECT_EQ(adds, 1) << n;
  }
}

TEST(Msccl, RefusesWhatIsWrongWithItsPlace) {
  std::string text = all_pairs(2);
  text.replace(text.find("type=\"re\""), 9, "type=\"xx\"");
  EXPECT_THAT(
      program_refusal(text),
      HasSubstr("a.xml:4:1: type: 'xx' is not known (known are s, r, rcs, rrs, rrc, rrcs, cpy, re, nop)"));
  text = all_pairs(2);
  text.replace(text.find("srcoff=\"0\""), 10, "srcoff=\"9\"");
  EXPECT_EQ(program_refusal(text), "a.xml:4:1: reaches beyond its buffer");
  EXPECT_THAT(program_refusal(algo("gather", 1, 1, false, gpu(0, 1, 1, 0, ""))),
              HasSubstr("coll: 'gather' is not known"));
  EXPECT_THAT(program_refusal(algo("allreduce", 1, 2, false, gpu(0, 1, 1, 0, ""))),
              HasSubstr("there is no GPU 1"));
  const std::string lonely =
      gpu(0, 1, 1, 0, block(0, 1, -1, step(0, "s", "i", 0, "o", 0))) + gpu(1, 1, 1, 0, "");
  EXPECT_EQ(program_refusal(algo("allreduce", 1, 2, false, lonely)),
            "a.xml:3:1: no threadblock of GPU 1 receives what this one sends");
  const std::string waiting = gpu(0, 1, 1, 0,
                                  block(0, -1, -1, step(0, "cpy", "i", 0, "o", 0, 1, 0)) +
                                      block(1, -1, -1, step(0, "nop", "i", -1, "o", -1, 0, 0)));
  EXPECT_THAT(program_refusal(algo("allreduce", 1, 1, false, waiting)),
              HasSubstr("waits for what never comes"));
  const std::string unread = gpu(0, 1, 1, 1, block(0, -1, -1, step(0, "cpy", "s", 0, "o", 0)));
  EXPECT_EQ(program_refusal(algo("allreduce", 1, 1, false, unread)),
            "a.xml:4:1: reads a chunk that nothing was written to");
}

TEST(Msccl, AProgramThatIsNotRightIsRefusedByTheChecker) {
  std::string body;
  for (int g = 0; g < 2; ++g)
    body +=
        gpu(g, 1, 1, 0, block(0, 1 - g, 1 - g, step(0, "s", "i", 0, "o", 0) + step(1, "r", "i", 0, "o", 0)));
  EXPECT_THAT(program_refusal(algo("allreduce", 1, 2, false, body)), HasSubstr("a.xml:"));
}

coll::OwnProgram ring(coll::Collective collective, sim::Bytes bytes, int ranks, int channels,
                      coll::Protocol protocol) {
  std::vector<int> gpus(static_cast<std::size_t>(ranks));
  for (int g = 0; g < ranks; ++g) gpus[static_cast<std::size_t>(g)] = g;
  net::FabricSpec spec;
  const auto fabric = net::draw(spec, ranks);
  EXPECT_TRUE(fabric);
  coll::OwnProgram own;
  own.name = "ring";
  own.settings.channels = channels;
  coll::Request request;
  request.collective = collective;
  request.bytes = bytes;
  request.gpus = gpus;
  request.fabric = &*fabric;
  request.tuning = coll::for_protocol(own.settings, protocol);
  own.program = coll::compile(*coll::find_algorithm("ring"), request);
  return own;
}

/// What steps do: places that a step does not use say nothing.
std::vector<std::string> texts_of(const std::vector<coll::Step>& steps) {
  std::vector<std::string> texts;
  for (const coll::Step& s : steps) {
    texts.push_back(fmt::format(
        "{} {} {} {} {} {} {} {}", coll::name_of(s), fmt::join(s.from, ","), fmt::join(s.to, ","),
        s.bytes.count(), s.uses_input ? s.input_offset.count() : -1, s.uses_held ? s.held_offset.count() : -1,
        s.writes_output ? s.output_offset.count() : -1, s.finishes));
  }
  return texts;
}

RC_GTEST_PROP(MscclRoundTrip, GivesTheSameStepsAtTheSameSize, ()) {
  const int ranks = *rc::gen::inRange(2, 9);
  const int channels = *rc::gen::inRange(1, 5);
  const auto protocol =
      *rc::gen::element(coll::Protocol::kSimple, coll::Protocol::kLl, coll::Protocol::kLl128);
  const auto collective = *rc::gen::element(coll::Collective::kAllReduce, coll::Collective::kReduceScatter);
  const sim::Bytes bytes{std::int64_t{16} * ranks * *rc::gen::inRange(1, 3000)};
  const coll::OwnProgram own = ring(collective, bytes, ranks, channels, protocol);
  const auto text = to_msccl(own);
  RC_ASSERT(error_of(text) == "");
  const auto read = read_msccl(*text, "ring.xml");
  RC_ASSERT(error_of(read) == "");
  const auto again = coll::fit(read->own, bytes, protocol, 4_B);
  RC_ASSERT(error_of(again) == "");
  RC_ASSERT(again->channels <= own.program.channels);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int channel = 0; channel < again->channels; ++channel)
      RC_ASSERT(texts_of(again->steps(rank, channel)) == texts_of(own.program.steps(rank, channel)));
  }
}

TEST(MscclExport, RefusesWhatAThreadblockCannotDo) {
  coll::OwnProgram own = ring(coll::Collective::kAllReduce, 4096_B, 4, 1, coll::Protocol::kSimple);
  own.program.collective = coll::Collective::kBarrier;
  EXPECT_EQ(error_of(to_msccl(own)), "MSCCL has no barrier");
  own = ring(coll::Collective::kAllReduce, 4096_B, 4, 1, coll::Protocol::kSimple);
  own.program.steps(1, 0)[0].to = {0, 2};
  EXPECT_THAT(error_of(to_msccl(own)), HasSubstr("rank 1 channel 0 step 1 of"));
}

TEST(MscclExport, AllGatherOfOursIsProvedRightAgain) {
  const coll::OwnProgram own = ring(coll::Collective::kAllGather, 65536_B, 4, 2, coll::Protocol::kSimple);
  const auto text = to_msccl(own);
  ASSERT_EQ(error_of(text), "");
  EXPECT_FALSE(coll::find_flaw(taken_program(*text).own.program));
}

}  // namespace
}  // namespace infold::formats
