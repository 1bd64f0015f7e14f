// Writes shapes as people do.
#include "train/shape.h"

#include <fmt/format.h>

namespace infold::train {

std::string to_string(const Shape& s) {
  switch (s.kind) {
    case Shape::Kind::kImage:
      return fmt::format("{} x {} x {}", s.channels, s.height, s.width);
    case Shape::Kind::kFeatures:
      return fmt::format("{}", s.channels);
    case Shape::Kind::kTokens:
      return fmt::format("{} tokens", s.height);
    case Shape::Kind::kSequence:
      return fmt::format("{} tokens x {}", s.height, s.channels);
  }
  return "?";
}

}  // namespace infold::train
