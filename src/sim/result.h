// The one way to say that something did not work out: a Result is a value or an Error, and an Error says what
// is wrong and where to look. Broken invariants are no errors of this kind; they abort (sim/check.h).
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace infold::sim {

/// A place in a file, counted from 1. Line 0: the file as a whole.
struct Place {
  std::string file;  ///< empty: in no file
  int line = 0;
  int column = 0;
};

struct Error {
  enum class Kind : std::uint8_t {
    kInput,        ///< what was asked for makes no sense or cannot be built
    kDeadlock,     ///< the simulation cannot go on and work is unfinished; `details` lists the waits
    kInterrupted,  ///< the caller asked to stop
  };
  std::string message;
  std::string parameter = {};  ///< the one to look at ("fabric.dims"), where it is one
  Place place = {};
  Kind kind = Kind::kInput;
  std::vector<std::string> details = {};
};

/// "file:line:column: message", without the parts that are not known.
inline std::string to_string(const Error& e) {
  if (e.place.file.empty()) return e.message;
  if (e.place.line == 0) return e.place.file + ": " + e.message;
  return e.place.file + ":" + std::to_string(e.place.line) + ":" + std::to_string(e.place.column) + ": " +
         e.message;
}

template <class T>
using Result = tl::expected<T, Error>;
/// Of what has nothing to give but that it worked.
using Status = Result<void>;

/// `return fail("there is no plane 7", "fabric.failed_planes");` in a function that returns any Result.
inline tl::unexpected<Error> fail(std::string message, std::string parameter = {}) {
  return tl::unexpected<Error>(Error{.message = std::move(message), .parameter = std::move(parameter)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace infold::sim
