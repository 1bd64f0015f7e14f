// The option --what-if, by which a user asks for what the machine does not have.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace infold::cli {

struct WhatIf {
  std::vector<std::string> words;  ///< as typed, each known
  /// The switches reduce, whatever inc.unit says.
  bool inc() const { return !words.empty(); }
};
void add_what_if_argument(CLI::App& command, WhatIf& what_if);

}  // namespace infold::cli
