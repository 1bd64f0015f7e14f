// A word of the command line as a value of an enum.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/suggest.h"
#include "sim/params.h"

namespace infold::cli {

/// Sets `value` to the one with that name, or returns an error message.
template <sim::NamedEnum E>
std::optional<std::string> pick(std::string_view what, std::string_view word, E& value) {
  std::vector<std::string_view> names;
  for (const auto& n : names_of(E{})) {
    if (n.name == word) {
      value = n.value;
      return std::nullopt;
    }
    names.push_back(n.name);
  }
  return fmt::format("there is no {} '{}'{}; there is {}", what, word, config::did_you_mean(word, names),
                     fmt::join(names, ", "));
}

}  // namespace infold::cli
