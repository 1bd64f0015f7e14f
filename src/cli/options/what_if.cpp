// Switches that reduce are the one thing that can be assumed so far.
#include "cli/options/what_if.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace infold::cli {

void add_what_if_argument(CLI::App& command, WhatIf& what_if) {
  command
      .add_option("--what-if", what_if.words,
                  "simulate what the machine does not have: inc (switches that reduce); results say "
                  "'hypothetical'")
      ->allow_extra_args(false)
      ->check([](const std::string& typed) {
        return typed == "inc" ? "" : fmt::format("there is no '{}'; there is inc", typed);
      });
}

}  // namespace infold::cli
