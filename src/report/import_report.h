// What `infold import` says of a foreign file, and the file of ours that it writes.
#pragma once

#include <string>

#include "formats/import.h"

namespace infold::report {

std::string import_text(const formats::Imported& imported, const std::string& file);
std::string import_json(const formats::Imported& imported);
/// The value as YAML that loads as the same; programs and measurements as JSON.
std::string import_file_text(const formats::Imported& imported);

}  // namespace infold::report
