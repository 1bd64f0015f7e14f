// Finds out what kind of file a file is, by its first keys, for a command that takes files of every kind.
#pragma once

#include <string>
#include <string_view>

namespace infold::config {

/// "system", "sweep", "program" and so on: the kind that the file, preset or shipped study says it is. A
/// program in JSON need not say so, because it has lists of steps. Empty if the file says nothing or cannot
/// be read.
std::string kind_of(std::string_view name_or_file);

}  // namespace infold::config
