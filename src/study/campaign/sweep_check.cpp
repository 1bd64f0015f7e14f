// Tries the words of a sweep without running them.
#include "study/campaign/sweep_check.h"

#include <fmt/format.h>

#include <utility>

namespace infold::study {

namespace {

/// Of columns that vary together, the one that is refused by itself, too; if there is none, the first.
WrongWords blame(const Sweep& sweep, const SweepAxis& axis, std::size_t value, std::string why,
                 const CheckCommand& check) {
  const SweepColumn* guilty = &axis.columns.front();
  for (const SweepColumn& column : axis.columns) {
    std::vector<std::string> alone = sweep.command;
    add_words(column.name, column.values[value], alone);
    if (auto again = check(alone); !again) {
      guilty = &column;
      why = std::move(again.error().message);
      break;
    }
  }
  if (!why.starts_with(guilty->name)) why = fmt::format("{}: {}", guilty->name, why);
  return {guilty->name, value, std::move(why)};
}

}  // namespace

std::optional<WrongWords> find_wrong_words(const Sweep& sweep, const CheckCommand& check) {
  if (auto checked = check(sweep.command); !checked)
    return WrongWords{{}, 0, fmt::format("command: {}", checked.error().message)};
  std::size_t below = sweep.points();
  for (const SweepAxis& axis : sweep.axes) {
    below /= axis.size();
    for (std::size_t i = 0; i < axis.size(); ++i) {
      auto checked = check(sweep.words(i * below));
      if (!checked) return blame(sweep, axis, i, std::move(checked.error().message), check);
    }
  }
  return std::nullopt;
}

NamedSystems systems_named_by(const Sweep& sweep) {
  NamedSystems systems;
  for (std::size_t i = 0; i + 1 < sweep.command.size(); ++i) {
    if (sweep.command[i] == "--system") systems.names = {sweep.command[i + 1]};
    if (sweep.command[i] == "--set") systems.sets.push_back(sweep.command[i + 1]);
  }
  for (const SweepAxis& axis : sweep.axes) {
    for (const SweepColumn& column : axis.columns) {
      if (column.name == "--system") systems.names = column.values;
    }
  }
  std::erase(systems.names, "");
  return systems;
}

}  // namespace infold::study
