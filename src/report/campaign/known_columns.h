// The columns that the results of a command can have, known without running it.
#pragma once

#include <string>
#include <vector>

namespace infold::report {

/// `words` is a command that a sweep may run. The list is empty for a command of which nothing is known.
std::vector<std::string> known_columns(const std::vector<std::string>& words);

}  // namespace infold::report
