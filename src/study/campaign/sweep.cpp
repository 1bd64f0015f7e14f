// The number of a point is written in digits whose bases are the sizes of the axes.
#include "study/campaign/sweep.h"

#include <fmt/format.h>

namespace infold::study {

std::size_t Sweep::points() const {
  std::size_t product = 1;
  for (const SweepAxis& axis : axes) {
    if (axis.size() > kMostPoints / product) return kMostPoints + 1;
    product *= axis.size();
  }
  return product;
}

std::vector<std::string> Sweep::columns() const {
  std::vector<std::string> names;
  for (const SweepAxis& axis : axes) {
    for (const SweepColumn& column : axis.columns) names.push_back(column.name);
  }
  return names;
}

std::vector<std::string> Sweep::values(std::size_t point) const {
  std::size_t below = 1;  // number of points in one step of the axis
  for (const SweepAxis& axis : axes) below *= axis.size();
  std::vector<std::string> values;
  for (const SweepAxis& axis : axes) {
    below /= axis.size();
    const std::size_t digit = point / below % axis.size();
    for (const SweepColumn& column : axis.columns) values.push_back(column.values[digit]);
  }
  return values;
}

void add_words(std::string_view column, std::string_view value, std::vector<std::string>& words) {
  if (value.empty()) return;
  if (!column.starts_with('-')) {
    words.emplace_back("--set");
    words.push_back(fmt::format("{}={}", column, value));
    return;
  }
  if (value == "false") return;
  words.emplace_back(column);
  if (value != "true") words.emplace_back(value);
}

std::vector<std::string> Sweep::words(std::size_t point) const {
  std::vector<std::string> words = command;
  const std::vector<std::string> names = columns();
  const std::vector<std::string> here = values(point);
  for (std::size_t i = 0; i < names.size(); ++i) add_words(names[i], here[i], words);
  return words;
}

std::string Sweep::identity() const {
  std::string text = fmt::format("command: {}\n", fmt::join(command, " "));
  for (const SweepAxis& axis : axes) {
    const char* lead = "- ";
    for (const SweepColumn& column : axis.columns) {
      text += fmt::format("{}{}: {}\n", lead, column.name, fmt::join(column.values, ", "));
      lead = "  ";
    }
  }
  return text;
}

}  // namespace infold::study
