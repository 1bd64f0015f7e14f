// The shape of a value between layers, for one sample: positions (pixels, tokens or one) x channels.
#pragma once

#include <cstdint>
#include <string>

namespace infold::train {

struct Shape {
  enum class Kind : std::uint8_t {
    kImage,     ///< height x width pixels with a number of channels
    kFeatures,  ///< a vector
    kTokens,    ///< words as numbers, before an embedding turns them into vectors
    kSequence,  ///< one vector per token
  };
  Kind kind = Kind::kFeatures;
  std::int64_t height = 1;  ///< for a sequence: its number of tokens
  std::int64_t width = 1;
  std::int64_t channels = 1;

  static Shape image(std::int64_t channels, std::int64_t height, std::int64_t width) {
    return {Kind::kImage, height, width, channels};
  }
  static Shape features(std::int64_t n) { return {Kind::kFeatures, 1, 1, n}; }
  static Shape tokens(std::int64_t n) { return {Kind::kTokens, n, 1, 1}; }
  static Shape sequence(std::int64_t tokens, std::int64_t width) {
    return {Kind::kSequence, tokens, 1, width};
  }

  std::int64_t positions() const { return height * width; }
  std::int64_t elements() const { return positions() * channels; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// "64 x 56 x 56", "512 tokens x 1024", "512 tokens", "1000".
std::string to_string(const Shape& shape);

}  // namespace infold::train
