// A YAML document as a small bounded tree that knows the position of each part in its file. Only plain data
// is accepted: no anchors, aliases or tags, and no key twice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/position.h"

namespace infold::config {

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Position at;
  std::string text;                ///< text of a scalar
  std::string key;                 ///< key of a child of a map
  Position key_at;                 ///< position of that key
  std::vector<YamlNode> children;  ///< children of a list or map, in the order of the file

  /// The child of a map with that key, or null.
  const YamlNode* find(std::string_view name) const;
};

/// "a map", "a list", "text" or "nothing".
std::string_view kind_text(YamlNode::Kind kind);

/// How much a document may contain; the defaults are ample for handwritten files.
struct YamlLimits {
  std::size_t children = 1024;  ///< children of one list or map
  std::size_t nodes = 20'000;
  std::size_t brackets = 5'000;
};

/// Reads one document, and refuses everything that is not small, plain, valid YAML in UTF-8. `file` is for
/// messages.
sim::Result<YamlNode> parse_yaml(std::string_view text, const std::string& file,
                                 const YamlLimits& limits = {});

}  // namespace infold::config
