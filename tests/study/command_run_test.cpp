// Commands as words: what quotes hold together.
#include "study/campaign/command_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infold::study {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WordsOf, AreWhatSpacesPart) {
  EXPECT_THAT(words_of("  bench all_reduce\t-b 1M\n"), ElementsAre("bench", "all_reduce", "-b", "1M"));
  EXPECT_THAT(words_of(" \n"), IsEmpty());
}

TEST(WordsOf, QuotesHoldAWordTogether) {
  EXPECT_THAT(words_of("--system 'my machines/a b.yaml' -g 2"),
              ElementsAre("--system", "my machines/a b.yaml", "-g", "2"));
  EXPECT_THAT(words_of(R"(--system="a \"b\" \\ c")"), ElementsAre(R"(--system=a "b" \ c)"));
  EXPECT_THAT(words_of("''"), ElementsAre(""));
}

TEST(WordsOf, AQuoteOfTheOtherKindIsACharacter) {
  EXPECT_THAT(words_of(R"("it's" '"')"), ElementsAre("it's", "\""));
}

}  // namespace
}  // namespace infold::study
