// Environment variables of NCCL: what each becomes, and what is refused or named as without effect.
#include "formats/nccl_environment.h"

#include "helpers.h"

namespace infold::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NcclEnvironment environment(const std::string& text) {
  auto made = read_nccl_environment(text, "nccl.conf");
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : NcclEnvironment{};
}
std::string environment_refusal(const std::string& text) {
  const auto made = read_nccl_environment(text, "nccl.conf");
  return made ? "" : to_string(made.error());
}

TEST(NcclEnvironment, NumbersBecomeParameters) {
  const NcclEnvironment env = environment(
      "NCCL_NTHREADS=256 NCCL_BUFFSIZE=1048576\nexport NCCL_MAX_NCHANNELS=8  # a "
      "comment\nNCCL_MIN_CTAS='2'\n");
  EXPECT_THAT(env.sets, ElementsAre("coll.threads=256", "coll.ll.threads=256", "coll.buffer=1048576B"));
  EXPECT_EQ(env.max_channels, 8);
  EXPECT_EQ(env.min_channels, 2);
  EXPECT_TRUE(env.notes.ignored.empty());
}

TEST(NcclEnvironment, ListsNameWhatIsAllowedOrWhatIsNot) {
  const NcclEnvironment env = environment("NCCL_ALGO=ring,tree;allreduce:^nvls,Tree NCCL_PROTO=^LL128");
  const auto allowed = [&](coll::Collective c) { return NcclEnvironment::allowed(env.algorithms, c); };
  EXPECT_THAT(*allowed(coll::Collective::kAllGather), ElementsAre("tree", "ring"));
  EXPECT_THAT(*allowed(coll::Collective::kAllReduce), ElementsAre("ring"));
  EXPECT_THAT(*NcclEnvironment::allowed(env.protocols, coll::Collective::kReduce),
              ElementsAre("ll", "simple"));
  EXPECT_FALSE(NcclEnvironment::allowed({}, coll::Collective::kReduce));
}

TEST(NcclEnvironment, SwitchesAreTurnedOff) {
  EXPECT_THAT(environment("NCCL_NVLS_ENABLE=0").sets, ElementsAre("inc.unit=none"));
  EXPECT_TRUE(environment("NCCL_NVLS_ENABLE=2").sets.empty());
  EXPECT_TRUE(environment("NCCL_P2P_DISABLE=1").p2p_off);
  EXPECT_TRUE(environment("NCCL_P2P_LEVEL=LOC").p2p_off);
  EXPECT_FALSE(environment("NCCL_P2P_LEVEL=NVL").p2p_off);
}

TEST(NcclEnvironment, NamesWhatHasNoEffectAndWhatIsNotKnown) {
  const NcclEnvironment env =
      environment("NCCL_DEBUG=INFO NCCL_NTHREAD=128 PATH=/bin NCCL_ALGO=^collnetchain");
  EXPECT_THAT(env.notes.ignored,
              ElementsAre(HasSubstr("NCCL_DEBUG: no effect"),
                          HasSubstr("NCCL_NTHREAD: not known (did you mean"), HasSubstr("PATH: not known")));
}

TEST(NcclEnvironment, RefusesWhatNcclWouldNotUnderstandWithItsPlace) {
  EXPECT_THAT(environment_refusal("NCCL_DEBUG=INFO\n  NCCL_ALGO=rign"),
              HasSubstr("nccl.conf:2:3: NCCL_ALGO: there is no algorithm"));
  EXPECT_THAT(environment_refusal("NCCL_ALGO=nvlstree"), HasSubstr("infold has no algorithm"));
  EXPECT_THAT(environment_refusal("NCCL_ALGO=gather:ring"), HasSubstr("no collective 'gather'"));
  EXPECT_THAT(environment_refusal("NCCL_NTHREADS=many"), HasSubstr("not a whole number"));
  EXPECT_THAT(environment_refusal("NCCL_MAX_NCHANNELS=0"), HasSubstr("from 1 to 256"));
  EXPECT_THAT(environment_refusal("NCCL_ALGO"), HasSubstr("not like NCCL_ALGO=Ring"));
}

}  // namespace
}  // namespace infold::formats
