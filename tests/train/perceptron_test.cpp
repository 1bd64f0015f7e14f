// The small network that is really computed: its gradient is that of its loss, and it learns.
#include "train/learn/perceptron.h"

#include <cmath>

namespace infold::train {
namespace {

TEST(Spirals, TheSameForASeedAndHalfOfEach) {
  const auto a = two_spirals(512, 3);
  const auto b = two_spirals(512, 3);
  const auto c = two_spirals(512, 4);
  ASSERT_EQ(a.size(), 512U);
  int sum = 0;
  bool differ = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].x, b[i].x);
    EXPECT_EQ(a[i].y, b[i].y);
    differ = differ || a[i].x != c[i].x;
    sum += static_cast<int>(a[i].label);
    EXPECT_LT(std::hypot(a[i].x, a[i].y), 1.1F);
  }
  EXPECT_TRUE(differ);
  EXPECT_EQ(sum, 0);
}

TEST(Perceptron, ParametersAreWeightsAndBiases) {
  EXPECT_EQ(Perceptron({16, 16}).parameters(), 3U * 16 + 17 * 16 + 17);
  EXPECT_EQ(Perceptron({5}).parameters(), 3U * 5 + 6);
  EXPECT_EQ(Perceptron({5}).layers(), (std::vector<int>{2, 5, 1}));
}

TEST(Perceptron, ItsGradientIsTheSlopeOfItsLoss) {
  Perceptron network({4, 3});
  std::vector<float> weights = network.initial_weights(1);
  const auto samples = two_spirals(8, 1);
  std::vector<float> gradient(network.parameters());
  std::vector<float> ignored(network.parameters());
  network.learn(weights, samples, gradient);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    constexpr float kStep = 1.0F / 256;
    const float here = weights[i];
    weights[i] = here + kStep;
    const float more = network.learn(weights, samples, ignored);
    weights[i] = here - kStep;
    const float less = network.learn(weights, samples, ignored);
    weights[i] = here;
    EXPECT_NEAR(gradient[i], (more - less) / (2 * kStep), 2e-3F + std::fabs(gradient[i]) * 0.01F) << i;
  }
}

TEST(Perceptron, LearnAddsToTheGradient) {
  Perceptron network({4});
  const std::vector<float> weights = network.initial_weights(1);
  const auto samples = two_spirals(2, 1);
  std::vector<float> once(network.parameters());
  std::vector<float> both(network.parameters());
  network.learn(weights, samples, once);
  network.learn(weights, samples, both);
  network.learn(weights, samples, both);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(both[i], 2 * once[i], 1e-5F);
}

}  // namespace
}  // namespace infold::train
