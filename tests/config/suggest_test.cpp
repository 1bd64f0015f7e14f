// The word that was meant.
#include "config/yaml/suggest.h"

#include <array>

namespace infold::config {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"latency", "rate", "hgx-h100", "hgx-h200", "fat-tree"};

TEST(Suggest, DistanceCountsSlips) {
  EXPECT_EQ(edit_distance("rate", "rate"), 0);
  EXPECT_EQ(edit_distance("Rate", "rATE"), 0);
  EXPECT_EQ(edit_distance("rat", "rate"), 1);
  EXPECT_EQ(edit_distance("arte", "rate"), 1);
  EXPECT_EQ(edit_distance("", "rate"), 4);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, FindsTheNearestWord) {
  EXPECT_EQ(nearest("latncy", kWords), "latency");
  EXPECT_EQ(nearest("hgx-h20", kWords), "hgx-h200");
  EXPECT_EQ(nearest("fattree", kWords), "fat-tree");
  EXPECT_EQ(did_you_mean("raet", kWords), " (did you mean 'rate'?)");
}

TEST(Suggest, PrefersTheRestOfAName) {
  EXPECT_EQ(nearest("hgx", kWords), "hgx-h100");
  EXPECT_EQ(nearest("a100", std::array<std::string_view, 2>{"h100", "a100-40"}), "a100-40");
  EXPECT_EQ(nearest("ra", kWords), std::nullopt);
}

TEST(Suggest, TheFirstWordWinsATie) {
  EXPECT_EQ(nearest("hgx-h300", kWords), "hgx-h100");
}

TEST(Suggest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("bandwidth", kWords), std::nullopt);
  EXPECT_EQ(nearest("", kWords), std::nullopt);
  EXPECT_EQ(nearest("x", std::array<std::string_view, 1>{"y"}), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kWords), std::nullopt);
  EXPECT_EQ(did_you_mean("zzz", kWords), "");
}

}  // namespace
}  // namespace infold::config
