// Scans over the raw bytes; each scan looks at a character once.
#include "config/yaml/yaml_text.h"

#include <fmt/format.h>

namespace infold::config {
namespace {

Position after(Position p, char c) {
  return c == '\n' ? Position{p.line + 1, 1} : Position{p.line, p.column + 1};
}

}  // namespace

std::optional<TextFault> find_many_brackets(std::string_view text, std::size_t most) {
  std::size_t brackets = 0;
  Position at{1, 1};
  for (const char c : text) {
    if ((c == '[' || c == '{') && ++brackets > most) {
      return TextFault{at, fmt::format("more than {} brackets", most)};
    }
    at = after(at, c);
  }
  return std::nullopt;
}

std::optional<TextFault> find_tab_indentation(std::string_view text) {
  Position at{1, 1};
  bool indenting = true;
  for (const char c : text) {
    if (indenting && c == '\t') return TextFault{at, "a tab in the indentation; YAML indents with spaces"};
    if (c != ' ') indenting = false;
    at = after(at, c);
    if (c == '\n') indenting = true;
  }
  return std::nullopt;
}

bool is_closed_quote(std::string_view text, std::size_t start) {
  if (start >= text.size() || (text[start] != '"' && text[start] != '\'')) return true;
  const char quote_mark = text[start];
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (quote_mark == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote_mark) {
      // In single quotes, two of them stand for one.
      if (quote_mark == '"' || i + 1 >= text.size() || text[i + 1] != quote_mark) return true;
      ++i;
    }
  }
  return false;
}

}  // namespace infold::config
