// Checks UTF-8 by hand: yaml-cpp replaces broken characters and stops silently at byte 4; both are refused
// here.
#include "config/yaml/text.h"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>

namespace infold::config {
namespace {

unsigned char byte(std::string_view s, std::size_t i) {
  return static_cast<unsigned char>(s[i]);
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

bool is_continuation(unsigned char c) {
  return (c & 0xc0) == 0x80;
}

/// Bytes of the UTF-8 character at i, or 0 when there is no valid one.
std::size_t utf8_length(std::string_view s, std::size_t i) {
  const unsigned char lead = byte(s, i);
  if (lead < 0x80) return 1;
  const std::size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || i + n > s.size()) return 0;
  for (std::size_t k = 1; k < n; ++k) {
    if (!is_continuation(byte(s, i + k))) return 0;
  }
  // The second byte rules out overlong forms, surrogates and everything beyond U+10FFFF.
  const unsigned char second = byte(s, i + 1);
  if (lead == 0xe0 && second < 0xa0) return 0;
  if (lead == 0xed && second > 0x9f) return 0;
  if (lead == 0xf0 && second < 0x90) return 0;
  if (lead == 0xf4 && second > 0x8f) return 0;
  return n;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && i < most) {
    const std::size_t n = utf8_length(text, i);
    if (n == 0 || is_control(byte(text, i))) {
      out += fmt::format("\\x{:02x}", byte(text, i));
      ++i;
    } else {
      out += text.substr(i, n);
      i += n;
    }
  }
  if (i < text.size()) out += "...";
  return out;
}

std::string quote(std::string_view text) {
  return fmt::format("'{}'", shown(text));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<TextFault> find_text_fault(std::string_view text) {
  Position at{1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = byte(text, i);
    if (c == 0) return TextFault{at, "a NUL byte: this is not a text file"};
    if (is_control(c) && c != '\t' && c != '\n' && c != '\r') {
      return TextFault{at, fmt::format("a control character (0x{:02x}): this is not a text file", c)};
    }
    const std::size_t n = utf8_length(text, i);
    if (n == 0) return TextFault{at, fmt::format("not valid UTF-8 (byte 0x{:02x})", c)};
    if (c == '\n') {
      at = {at.line + 1, 1};
    } else {
      ++at.column;
    }
    i += n;
  }
  return std::nullopt;
}

bool has_control_character(std::string_view text) {
  for (const char c : text) {
    if (is_control(static_cast<unsigned char>(c))) return true;
  }
  return false;
}

}  // namespace infold::config
