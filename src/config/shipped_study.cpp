// Names of studies to their text.
#include "config/shipped_study.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "embedded_studies.h"

namespace infold::config {

sim::Result<Source> find_study(std::string_view name) {
  if (is_file_reference(name)) return read_source(std::filesystem::path(name), kLargestFile);
  std::vector<std::string> names;
  for (const embedded::File& f : embedded::studies()) {
    names.emplace_back(f.path.substr(0, f.path.rfind('.')));
    if (names.back() == name) {
      const std::string shown = fmt::format("studies/{}", f.path);
      return Source{shown, "study:" + shown, std::string(name), {}, true, std::string(f.text)};
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string hint = did_you_mean(name, views);
  if (hint.empty()) hint = fmt::format(" (there are: {})", fmt::join(names, ", "));
  return sim::fail(fmt::format("unknown study {}{}", quote(name), hint));
}

std::vector<PresetInfo> list_shipped(std::string_view kind) {
  std::vector<PresetInfo> out;
  for (const embedded::File& f : embedded::studies()) {
    const auto root = parse_yaml(std::string(f.text), std::string(f.path));
    if (!root) continue;  // a test reads them all
    const YamlNode* of = root->find("kind");
    const YamlNode* summary = root->find("summary");
    if (of == nullptr || of->text != kind) continue;
    out.push_back(
        {std::string(f.path.substr(0, f.path.rfind('.'))), summary == nullptr ? "" : summary->text});
  }
  return out;
}

sim::Status check_kind(const YamlNode& root, std::string_view wanted, const std::string& file) {
  const YamlNode* kind = root.find("kind");
  if (kind == nullptr || kind->kind != YamlNode::Kind::kScalar || kind->text == wanted) return {};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCommands = {
      {{"study", "study"}, {"sweep", "sweep"}, {"validation", "validate"}}};
  std::string message = fmt::format("kind: expected {}, not {}", wanted, quote(kind->text));
  for (const auto& [other, command] : kCommands) {
    if (kind->text == other) message += fmt::format(" (run it with 'infold {}')", command);
  }
  return sim::fail(at(file, kind->at, std::move(message)));
}

}  // namespace infold::config
