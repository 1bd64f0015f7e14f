// What a file is, as far as its first keys tell, for a command that takes files of every kind.
#pragma once

#include <string>
#include <string_view>

namespace infold::config {

/// "system", "sweep", "program" ...: what the file, preset or shipped study says it is. A program in JSON
/// need not say so: it has lists of steps. Empty if it says nothing or can not be read.
std::string kind_of(std::string_view name_or_file);

}  // namespace infold::config
