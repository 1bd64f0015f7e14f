// A word of the command line as a value of an enum.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/suggest.h"
#include "sim/params.h"
#include "sim/result.h"

namespace infold::cli {

/// Sets `value` to that of a name.
template <sim::NamedEnum E>
sim::Status pick(std::string_view what, std::string_view word, E& value) {
  std::vector<std::string_view> names;
  for (const auto& n : names_of(E{})) {
    if (n.name == word) {
      value = n.value;
      return {};
    }
    names.push_back(n.name);
  }
  return sim::fail(fmt::format("there is no {} '{}'{}; there is {}", what, word,
                               config::did_you_mean(word, names), fmt::join(names, ", ")));
}

}  // namespace infold::cli
