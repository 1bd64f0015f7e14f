// JSON as reports write it: keys in the order in which they are set. Used in this room only.
#pragma once

#include <nlohmann/json.hpp>

namespace infold::report {

using Json = nlohmann::ordered_json;

}  // namespace infold::report
