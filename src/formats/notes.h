// What a reader of a foreign file says besides the value that it makes: what it understood, what it had to
// assume because the file does not say it, and what it left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace infold::formats {

struct Fact {
  std::string name;
  std::variant<std::int64_t, std::string> value;
};

struct Notes {
  std::vector<Fact> understood;
  std::vector<std::string> assumed;
  std::vector<std::string> ignored;

  void fact(std::string_view name, std::int64_t value) { understood.push_back({std::string(name), value}); }
  void fact(std::string_view name, std::string value) {
    understood.push_back({std::string(name), std::move(value)});
  }
  /// The same as lines of `sources:`, which `describe` prints and YAML keeps.
  std::vector<std::string> sources(std::string_view format) const;
};

}  // namespace infold::formats
