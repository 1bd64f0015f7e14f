// Digits of the hashes.
#include "study/composed/content_key.h"

#include <fmt/format.h>

#include <bit>

namespace infold::study::composed {

std::int64_t ContentKey::number(double value) {
  return std::bit_cast<std::int64_t>(value);
}

std::string ContentKey::text() const {
  return fmt::format("{:016x}{:016x}", first_, second_);
}

}  // namespace infold::study::composed
