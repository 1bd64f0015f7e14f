// Asks every option that was given.
#include "cli/options/effects.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace infold::cli {

void Effects::add(const CLI::Option* option, WhyNot why_not) {
  rules_.push_back({option, std::move(why_not)});
}

void Effects::only(const CLI::Option* option, std::function<bool()> has_effect, std::string otherwise) {
  add(option, [has_effect = std::move(has_effect), otherwise = std::move(otherwise)] {
    return has_effect() ? std::string() : otherwise;
  });
}

sim::Status Effects::check() const {
  for (const Rule& rule : rules_) {
    if (rule.option->count() == 0) continue;
    if (const std::string why = rule.why_not(); !why.empty()) {
      return sim::fail(
          fmt::format("{} has no effect {}", rule.option->get_name(/*positional=*/true, true), why));
    }
  }
  return {};
}

}  // namespace infold::cli
