// The one way to say that something did not work out: a Result is a value or an Error, and an Error says what
// is wrong and where to look. Broken invariants are no errors of this kind; they abort (sim/check.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace infold::sim {

/// A place in a file, counted from 1. Line 0 means the file as a whole.
struct Place {
  std::string file;  ///< empty if it is in no file
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
  std::string parameter = {};  ///< the parameter to look at ("fabric.dims"), if there is one
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
/// The result of a function that returns no value, but may fail.
using Status = Result<void>;
/// What a Result holds if there is no value; see fail().
using Failure = tl::unexpected<Error>;

/// `return fail("there is no plane 7", "fabric.failed_planes");` in a function that returns any Result.
inline Failure fail(std::string message, std::string parameter = {}) {
  return Failure(Error{.message = std::move(message), .parameter = std::move(parameter)});
}
inline Failure fail(Error error) {
  return Failure(std::move(error));
}

/// Passes on the error of another Result: `if (!parsed) return fail_as(parsed);`.
template <class T>
Failure fail_as(const Result<T>& failed) {
  return Failure(failed.error());
}
template <class T>
Failure fail_as(Result<T>&& failed) {
  return Failure(std::move(failed).error());
}

/// The error of a simulation that cannot go on although work is unfinished; `waiting` says what waits for
/// what.
inline Failure deadlock(std::vector<std::string> waiting) {
  return Failure(Error{.message = "nothing can happen any more and work is unfinished",
                       .kind = Error::Kind::kDeadlock,
                       .details = std::move(waiting)});
}
/// The error of work that its caller asked to stop.
inline Failure interrupted() {
  return Failure(Error{.message = "interrupted", .kind = Error::Kind::kInterrupted});
}

/// The same error with "what: " before its message.
inline Error prefixed(std::string_view what, Error error) {
  error.message.insert(0, ": ").insert(0, what);
  return error;
}

}  // namespace infold::sim
