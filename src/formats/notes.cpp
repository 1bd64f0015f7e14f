// Lines of sources are bounded, so a long list takes several.
#include "formats/notes.h"

#include <fmt/format.h>

namespace infold::formats {

namespace {

constexpr std::size_t kLongestSourceLine = 240;

void add_list(std::string_view label, std::string_view joint, const std::vector<std::string>& items,
              std::vector<std::string>& lines) {
  std::string line;
  for (const std::string& item : items) {
    if (!line.empty() && line.size() + item.size() > kLongestSourceLine) {
      lines.push_back(line);
      line.clear();
    }
    line += line.empty() ? fmt::format("{}: {}", label, item) : fmt::format("{}{}", joint, item);
  }
  if (!line.empty()) lines.push_back(line);
}

}  // namespace

std::vector<std::string> Notes::sources(std::string_view format) const {
  std::vector<std::string> lines = {fmt::format("read from {}", format)};
  add_list("assumed", "; ", assumed, lines);
  add_list("not used", ", ", ignored, lines);
  return lines;
}

}  // namespace infold::formats
