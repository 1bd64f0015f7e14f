// Where the lines of a text begin, to tell line and column of a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "config/yaml/position.h"

namespace infold::formats {

class LineStarts {
 public:
  explicit LineStarts(std::string_view text) {
    for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
      starts_.push_back(i + 1);
  }
  /// The place of the byte at `offset`; columns count bytes.
  config::Position position(std::size_t offset) const {
    const auto line = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return {static_cast<int>(line - starts_.begin()), static_cast<int>(offset - *(line - 1)) + 1};
  }

 private:
  std::vector<std::size_t> starts_ = {0};
};

}  // namespace infold::formats
