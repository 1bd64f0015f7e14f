// Checks of YAML text that must be made before or besides yaml-cpp, which is too lenient there.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "config/yaml/text.h"

namespace infold::config {

/// yaml-cpp keeps every unclosed bracket in memory until the line's meaning is clear; no file needs many.
std::optional<TextFault> find_many_brackets(std::string_view text, std::size_t most);

/// Finds a tab in the indentation of a line; the message of yaml-cpp depends on what follows it, ours says
/// what to do.
std::optional<TextFault> find_tab_indentation(std::string_view text);

/// Whether the quote that opens at `start` is closed: yaml-cpp lets one run to the end of the file if that
/// ends in a line break. Also true where no quoted text starts.
bool is_closed_quote(std::string_view text, std::size_t start);

}  // namespace infold::config
