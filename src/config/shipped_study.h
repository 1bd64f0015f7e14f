// Studies and sweeps: those that are part of the program, and a user's own in files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/catalog.h"
#include "config/yaml/position.h"
#include "config/yaml/reader.h"
#include "config/yaml/source.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

/// Finds a study by the name of a shipped one, or by file. `kind` ("study", "sweep") is what is looked for:
/// one of another kind is found too, and check_kind() says how to run it.
sim::Result<Source> find_study(std::string_view name_or_file, std::string_view kind = "study");

/// Lists the shipped ones of a kind ("study", "sweep"), with their summaries.
std::vector<PresetInfo> list_shipped(std::string_view kind);

/// A study or sweep whose text has been read.
struct StudySource {
  Source source;
  YamlNode root;
  ReadContext reading;  ///< of this file
};
/// Finds and reads a study or sweep, which must be of that kind if it says of which kind it is.
sim::Result<StudySource> open_study(std::string_view name_or_file, std::string_view kind);

/// Refuses a file that says it is of another kind, before anything else in it is complained of.
sim::Status check_kind(const YamlNode& root, std::string_view wanted, const std::string& file);

}  // namespace infold::config
