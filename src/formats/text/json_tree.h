// JSON text as the tree that the readers of YAML use: bounded, and every key and value with its place in the
// file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/yaml/yaml_tree.h"

namespace infold::formats {

/// How much JSON text may contain.
struct JsonLimits {
  std::size_t depth = 32;
  std::size_t values = 2'000'000;
};

sim::Result<config::YamlNode> parse_json(std::string_view text, const std::string& file,
                                         const JsonLimits& limits = {});

}  // namespace infold::formats
