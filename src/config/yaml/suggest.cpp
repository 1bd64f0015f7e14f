// Optimal string alignment distance over three rows; words are short, so this is fast enough.
#include "config/yaml/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace infold::config {
namespace {

constexpr std::size_t kLongestWord = 80;
constexpr std::size_t kShortestStart = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1);
  std::vector<int> above(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  // A prefix is more often an unfinished name than another name misspelt: a100 means a100-40, not h100.
  if (word.size() >= kShortestStart) {
    const auto whole =
        std::find_if(known.begin(), known.end(), [&](std::string_view k) { return k.starts_with(word); });
    if (whole != known.end()) return *whole;
  }
  std::optional<std::string_view> best;
  // A third of the letters may be wrong; in a word of one or two letters, one letter.
  int allowed = std::max(1, static_cast<int>(word.size()) / 3);
  for (const std::string_view candidate : known) {
    const int distance = edit_distance(word, candidate);
    if (distance > allowed || distance >= static_cast<int>(std::max(word.size(), candidate.size()))) continue;
    best = candidate;
    allowed = distance - 1;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const auto best = nearest(word, known);
  return best ? fmt::format(" (did you mean '{}'?)", *best) : std::string{};
}

}  // namespace infold::config
