// The order of message classes: what is declared has no circle, and a circle would be found.
#include <gtest/gtest.h>

#include <vector>

#include "net/packet/message_classes.h"

namespace infold::net {
namespace {

TEST(MessageClasses, WaitInOrder) {
  EXPECT_TRUE(in_order(kClassWaits));
}

TEST(MessageClasses, ACircleIsFound) {
  for (const ClassWait& w : kClassWaits) {
    std::vector<ClassWait> waits(kClassWaits.begin(), kClassWaits.end());
    waits.push_back({w.waits_for, w.waiting});
    EXPECT_FALSE(in_order(waits));
  }
  const ClassWait self[] = {{PacketClass::kData, PacketClass::kData}};
  EXPECT_FALSE(in_order(self));
}

TEST(MessageClasses, NothingThatAnswersWaitsForWhatItAnswers) {
  EXPECT_TRUE(may_wait_for(PacketClass::kRequest, PacketClass::kContribution));
  EXPECT_FALSE(may_wait_for(PacketClass::kContribution, PacketClass::kRequest));
  EXPECT_FALSE(may_wait_for(PacketClass::kControl, PacketClass::kData));
}

}  // namespace
}  // namespace infold::net
