// An error of input as a value: what is wrong, and where in which file.
// No exception leaves this room; everything that can fail returns a Result.
#pragma once

#include <compare>
#include <string>
#include <utility>
#include <variant>

namespace infold::config {

/// A place in a text, counted from 1; line 0 means the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
  auto operator<=>(const Position&) const = default;
};

struct Diagnostic {
  std::string file;  ///< empty when the error is not in a file
  int line = 0;
  int column = 0;
  std::string message;
};

/// "file:line:column: message", without the parts that are not known.
inline std::string to_string(const Diagnostic& d) {
  if (d.file.empty()) return d.message;
  if (d.line == 0) return d.file + ": " + d.message;
  return d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message;
}

inline Diagnostic at(const std::string& file, Position p, std::string message) {
  return {file, p.line, p.column, std::move(message)};
}

/// Either the value that was asked for, or why there is none.
template <class T>
using Result = std::variant<T, Diagnostic>;

template <class T>
bool ok(const Result<T>& r) {
  return std::holds_alternative<T>(r);
}

}  // namespace infold::config
