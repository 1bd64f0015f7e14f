// Finds the text of a study by its name.
#include "config/shipped_study.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "embedded_studies.h"

namespace infold::config {

sim::Result<Source> find_study(std::string_view name, std::string_view kind) {
  if (is_file_reference(name)) return read_source(std::filesystem::path(name), kLargestFile);
  for (const embedded::File& f : embedded::studies()) {
    if (f.path.substr(0, f.path.rfind('.')) == name) {
      const std::string shown = fmt::format("studies/{}", f.path);
      return Source{shown, "study:" + shown, std::string(name), {}, true, std::string(f.text)};
    }
  }
  std::vector<std::string> names;
  for (const PresetInfo& info : list_shipped(kind)) names.push_back(info.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string hint = did_you_mean(name, views);
  if (hint.empty()) hint = fmt::format(" (there are: {})", fmt::join(names, ", "));
  return sim::fail(fmt::format("unknown {} {}{}", kind, quote(name), hint));
}

std::vector<PresetInfo> list_shipped(std::string_view kind) {
  std::vector<PresetInfo> out;
  for (const embedded::File& f : embedded::studies()) {
    const auto root = parse_yaml(std::string(f.text), std::string(f.path));
    if (!root) continue;  // a test reads all of them, so none is broken
    const YamlNode* of = root->find("kind");
    const YamlNode* summary = root->find("summary");
    if (of == nullptr || of->text != kind) continue;
    out.push_back(
        {std::string(f.path.substr(0, f.path.rfind('.'))), summary == nullptr ? "" : summary->text});
  }
  return out;
}

sim::Result<StudySource> open_study(std::string_view name_or_file, std::string_view kind) {
  auto source = find_study(name_or_file, kind);
  if (!source) return sim::fail(unread(name_or_file, std::move(source.error())));
  auto root = parse_yaml(source->text, source->shown);
  if (!root) return sim::fail_as(std::move(root));
  if (auto fits = check_kind(*root, kind, source->shown); !fits) return sim::fail_as(std::move(fits));
  StudySource opened{*std::move(source), *std::move(root), {}};
  opened.reading.file = opened.source.shown;
  return opened;
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
