// What must be known about YAML text before or beside yaml-cpp, which is too lenient there.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "config/yaml/text.h"

namespace infold::config {

/// yaml-cpp keeps every unclosed bracket in memory until the line's meaning is clear; no file needs many.
std::optional<TextFault> find_many_brackets(std::string_view text, std::size_t most);

/// A tab where a line is indented; yaml-cpp's own words depend on what follows it, ours say what to do.
std::optional<TextFault> find_tab_indentation(std::string_view text);

/// Whether the quote that opens at `start` is closed: yaml-cpp lets one run to the end of the file if that
/// ends in a line break. Also true where no quoted text starts.
bool is_closed_quote(std::string_view text, std::size_t start);

}  // namespace infold::config
