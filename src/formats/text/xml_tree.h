// XML as a small bounded tree of elements with their attributes, each with its place in the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml/position.h"

namespace infold::formats {

struct XmlNode {
  std::string name;
  config::Position at;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlNode> children;  ///< elements only: text and comments are left out

  /// The value of an attribute, or null.
  const std::string* find(std::string_view attribute) const;
  /// The same, or "".
  std::string_view text(std::string_view attribute) const;
};

struct XmlLimits {
  std::size_t depth = 32;
  std::size_t elements = 2'000'000;
};

/// Reads one document and gives its outermost element.
sim::Result<XmlNode> parse_xml(std::string_view text, const std::string& file, const XmlLimits& limits = {});

}  // namespace infold::formats
