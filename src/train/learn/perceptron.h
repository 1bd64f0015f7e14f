// A small network that is really computed, number by number, in fp32: two inputs, hidden layers, one output.
// It uses only additions, multiplications and divisions, so that its bits are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/learn/spirals.h"

namespace infold::train {

class Perceptron {
 public:
  /// `hidden` is the number of neurons of each hidden layer.
  explicit Perceptron(std::vector<int> hidden);

  std::size_t parameters() const { return parameters_; }
  /// Inputs, hidden layers and output.
  const std::vector<int>& layers() const { return layers_; }
  std::vector<float> initial_weights(std::uint64_t seed) const;

  /// Returns the sum over the samples of half the squared error, and adds its gradient to `gradient`.
  float learn(std::span<const float> weights, std::span<const Sample> samples, std::span<float> gradient);
  /// Computes the output, whose sign is the class.
  float answer(std::span<const float> weights, const Sample& sample);

 private:
  std::vector<int> layers_;
  std::size_t parameters_ = 0;
  std::vector<std::vector<float>> outputs_;  // outputs of each layer, kept from forward for backward
  std::vector<float> errors_;                // errors of the layer that backward is at
  std::vector<float> errors_below_;
};

}  // namespace infold::train
