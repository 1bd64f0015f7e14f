// Text from outside, made safe to print: checked as UTF-8, and quoted for a message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/position.h"

namespace infold::config {

/// Text for use in a message: one line, no control characters, shortened when it is longer than the limit.
std::string shown(std::string_view text, std::size_t most = 60);
/// The same in quotes.
std::string quote(std::string_view text);

/// The text without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Whether a character is a decimal digit, whatever the locale.
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct TextFault {
  Position at;
  std::string why;
};

/// Finds the first byte that is not allowed in a text file: NUL or another control character, or invalid
/// UTF-8.
std::optional<TextFault> find_text_fault(std::string_view text);

/// Whether the text has a control character; a string value must not, since it is printed on terminals and in
/// reports.
bool has_control_character(std::string_view text);

}  // namespace infold::config
