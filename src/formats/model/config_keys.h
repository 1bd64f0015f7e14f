// The keys of a config.json: each is read once with its range and its default. Those that are never asked
// for are known in the end.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "config/yaml/yaml_tree.h"
#include "formats/notes.h"

namespace infold::formats {

class ConfigKeys {
 public:
  /// `map` is a map. `inside`: the key that it stands under, for messages; empty at the top.
  ConfigKeys(const config::YamlNode& map, std::string file, Notes& notes, const std::string& inside = {});

  /// A whole number that must be given.
  int need(std::string_view name, int least, int most);
  /// A whole number, or `otherwise` where it is not given or null; that is noted as assumed.
  int number(std::string_view name, int least, int most, int otherwise,
             std::string_view why = "the default of transformers");
  /// A number that may have a fraction.
  double real(std::string_view name, double otherwise);
  bool flag(std::string_view name, bool otherwise);
  /// Text; empty where it is not given.
  std::string word(std::string_view name);
  /// A list of whole numbers; empty where it is not given.
  std::vector<int> numbers(std::string_view name, int least, int most);
  /// The map under a key, or null; complains if it is something else.
  const config::YamlNode* map(std::string_view name);

  /// Whether the key is given and not null.
  bool has(std::string_view name) const;
  /// The place of the key, or of the map where it is not given.
  config::Position place(std::string_view name) const;
  const std::string& file() const { return file_; }
  void complain(config::Position at, std::string why);
  void complain(std::string_view name, const std::string& why) {
    complain(place(name), fmt::format("{}{}: {}", inside_, name, why));
  }

  /// Adds the keys that were not read to the notes.
  void finish();
  /// The first problem in the order of the file.
  const std::optional<sim::Error>& problem() const { return problem_; }

 private:
  const config::YamlNode* find(std::string_view name);
  template <class T>
  std::optional<T> parsed(const config::YamlNode& node, std::string_view name, T least, T most);

  const config::YamlNode& map_;
  std::string file_;
  Notes& notes_;
  std::string inside_;
  std::set<std::string, std::less<>> read_;
  std::optional<sim::Error> problem_;
};

}  // namespace infold::formats
