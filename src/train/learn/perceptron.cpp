// Forward and backward of fully connected layers, with x / (1 + |x|) between them.
#include "train/learn/perceptron.h"

#include <algorithm>
#include <cmath>

#include "sim/random.h"

namespace infold::train {

namespace {
constexpr int kInputs = 2;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}
}  // namespace

Perceptron::Perceptron(std::vector<int> hidden) : layers_{kInputs} {
  layers_.insert(layers_.end(), hidden.begin(), hidden.end());
  layers_.push_back(1);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    outputs_.emplace_back(index(layers_[l]));
    if (l > 0) parameters_ += index(layers_[l]) * (index(layers_[l - 1]) + 1);
  }
  const auto widest = index(*std::max_element(layers_.begin(), layers_.end()));
  errors_.resize(widest);
  errors_below_.resize(widest);
}

/// Weights are uniform, and the smaller the wider the layer below is. They are stored neuron by neuron:
/// weights, then bias.
std::vector<float> Perceptron::initial_weights(std::uint64_t seed) const {
  sim::Random random(seed);
  std::vector<float> weights;
  weights.reserve(parameters_);
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const float scale = 2.0F / std::sqrt(static_cast<float>(layers_[l - 1]));
    for (std::size_t i = 0; i < index(layers_[l]) * (index(layers_[l - 1]) + 1); ++i) {
      const float unit = static_cast<float>(random.below(1 << 24)) / static_cast<float>(1 << 23) - 1.0F;
      weights.push_back(unit * scale);
    }
  }
  return weights;
}

float Perceptron::answer(std::span<const float> weights, const Sample& sample) {
  outputs_[0] = {sample.x, sample.y};
  const float* w = weights.data();
  for (std::size_t l = 1; l < layers_.size(); ++l) {
    const std::vector<float>& in = outputs_[l - 1];
    for (float& out : outputs_[l]) {
      float sum = 0;
      for (const float x : in) sum += *w++ * x;
      sum += *w++;
      // The output of the last layer has no activation.
      out = l + 1 == layers_.size() ? sum : sum / (1 + std::fabs(sum));
    }
  }
  return outputs_.back().front();
}

float Perceptron::learn(std::span<const float> weights, std::span<const Sample> samples,
                        std::span<float> gradient) {
  float loss = 0;
  for (const Sample& sample : samples) {
    const float error = answer(weights, sample) - sample.label;
    loss += error * error / 2;
    errors_[0] = error;
    std::size_t end = parameters_;  // end of the weights of the layer
    for (std::size_t l = layers_.size() - 1; l > 0; --l) {
      const std::vector<float>& in = outputs_[l - 1];
      const std::size_t stride = in.size() + 1;
      const std::size_t begin = end - stride * index(layers_[l]);
      std::fill_n(errors_below_.begin(), in.size(), 0.0F);
      for (std::size_t neuron = 0; neuron < index(layers_[l]); ++neuron) {
        const std::size_t at = begin + neuron * stride;
        for (std::size_t i = 0; i < in.size(); ++i) {
          gradient[at + i] += errors_[neuron] * in[i];
          errors_below_[i] += errors_[neuron] * weights[at + i];
        }
        gradient[at + in.size()] += errors_[neuron];
      }
      // y = x / (1 + |x|) has the slope (1 - |y|)^2.
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float slope = 1 - std::fabs(in[i]);
        errors_[i] = errors_below_[i] * slope * slope;
      }
      end = begin;
    }
  }
  return loss;
}

}  // namespace infold::train
