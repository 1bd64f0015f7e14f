// Where something stands in a text, and the error that points there.
// No exception leaves this room; everything that can fail returns a sim::Result.
#pragma once

#include <compare>
#include <string>
#include <utility>

#include "sim/result.h"

namespace infold::config {

/// A place in a text, counted from 1; line 0 means the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
  auto operator<=>(const Position&) const = default;
};

inline sim::Error at(const std::string& file, Position p, std::string message) {
  return {.message = std::move(message), .place = {file, p.line, p.column}};
}

}  // namespace infold::config
