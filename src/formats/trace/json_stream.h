// JSON too large for memory: the values of one list are given one by one, and what stands beside it.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "formats/text/byte_stream.h"
#include "sim/result.h"

namespace infold::formats {

struct JsonStreamWatch {
  std::string_view list;  ///< the key of the list; a file that is a list itself is that list
  std::function<void(const nlohmann::json&)> item;
  std::vector<std::string_view> also;  ///< other keys of the outermost map that are wanted
  std::function<void(const std::string& key, const nlohmann::json&)> value;
};

/// Reads to the end. Errors have line and column. A single item is bounded like the depth.
sim::Status stream_json(ByteStream& stream, const std::string& file, const JsonStreamWatch& watch);

}  // namespace infold::formats
