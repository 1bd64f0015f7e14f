// Which in-network algorithms a machine has, and what is said of those that it does not have.
#include "study/hypothetical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infold::study {
namespace {

using inc::Unit;
using testing::HasSubstr;

SystemPtr with_unit(Unit unit) {
  SystemSpec spec;
  spec.name = "mine";
  spec.machine.inc.unit = unit;
  auto made = PreparedSystem::make(spec);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

const coll::Algorithm* named(std::string_view name) {
  return coll::find_algorithm(name);
}

TEST(Hypothetical, IsWhatTheSwitchesCanNotDo) {
  EXPECT_FALSE(is_hypothetical(Unit::kNone, named("ring")));
  EXPECT_TRUE(is_hypothetical(Unit::kNone, named("nvls")));
  EXPECT_FALSE(is_hypothetical(Unit::kNvls, named("nvls")));
  EXPECT_TRUE(is_hypothetical(Unit::kNvls, named("inc-push")));
}

TEST(Hypothetical, IsEverythingInAMachineThatIsOnlyProposed) {
  EXPECT_TRUE(is_hypothetical(Unit::kProposed, named("nvls")));
  EXPECT_TRUE(is_hypothetical(Unit::kProposed, named("inc-pull")));
  EXPECT_FALSE(is_hypothetical(Unit::kProposed, named("tree")));
}

TEST(Hypothetical, AutoTakesNothingOfTheKind) {
  EXPECT_FALSE(is_hypothetical(Unit::kNone, static_cast<const coll::Algorithm*>(nullptr)));
}

TEST(CheckBuilt, RefusesWhatIsMissingAndSaysHowToAskForIt) {
  const auto refused = check_built(*with_unit(Unit::kNone), named("nvls"), false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nvls: the switches of mine do not reduce"));
  EXPECT_THAT(refused.error().message, HasSubstr("--what-if inc"));
  EXPECT_TRUE(check_built(*with_unit(Unit::kNone), named("nvls"), true));
}

TEST(CheckBuilt, SwitchesThatSumWhatIsAskedForDoNotSumWhatIsPushed) {
  EXPECT_TRUE(check_built(*with_unit(Unit::kNvls), named("nvls"), false));
  EXPECT_FALSE(check_built(*with_unit(Unit::kNvls), named("inc-push"), false));
  EXPECT_TRUE(check_built(*with_unit(Unit::kProposed), named("inc-push"), false));
}

}  // namespace
}  // namespace infold::study
