// Studies and sweeps that are part of the program, or a user's own in files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/yaml/diagnostic.h"
#include "config/yaml/source.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

/// Loads by the name of a shipped study or sweep, or by file.
std::variant<Source, NoSource> find_study(std::string_view name_or_file);

/// A file that says it is of another kind is not read any further, to avoid further messages about the rest.
std::optional<Diagnostic> refuse_kind(const YamlNode& root, std::string_view wanted, const std::string& file);

}  // namespace infold::config
