// What can be said about a sweep before it is run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/campaign/command_run.h"
#include "study/campaign/sweep.h"

namespace infold::study {

/// Words of a sweep that make no sense.
struct WrongWords {
  std::string column;     ///< empty if they are words of the command itself
  std::size_t value = 0;  ///< the index of the value in the column
  std::string why;
};
/// Finds the first such words. Each value is tried once, with the first values of all others.
std::optional<WrongWords> find_wrong_words(const Sweep& sweep, const CheckCommand& check);

/// The systems that a sweep names, and what its command sets on each.
struct NamedSystems {
  std::vector<std::string> names;
  std::vector<std::string> sets;
};
NamedSystems systems_named_by(const Sweep& sweep);

}  // namespace infold::study
