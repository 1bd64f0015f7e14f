// Studies and sweeps that are part of the program, or a user's own in files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/catalog.h"
#include "config/yaml/position.h"
#include "config/yaml/source.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

/// By the name of a shipped one, or by file.
sim::Result<Source> find_study(std::string_view name_or_file);

/// The shipped ones of a kind ("study", "sweep"), with what each is about.
std::vector<PresetInfo> list_shipped(std::string_view kind);

/// A file that says it is of another kind is not read any further: the rest would be complained of too.
sim::Status check_kind(const YamlNode& root, std::string_view wanted, const std::string& file);

}  // namespace infold::config
