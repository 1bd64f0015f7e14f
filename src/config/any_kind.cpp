// Reads the file once before its own reader does, and believes its `kind:`.
#include "config/any_kind.h"

#include "config/program_file.h"
#include "config/shipped_study.h"
#include "config/yaml/yaml_tree.h"

namespace infold::config {

std::string kind_of(std::string_view name_or_file) {
  const bool file = is_file_reference(name_or_file);
  const auto source =
      file ? read_source(std::filesystem::path(name_or_file), kLargestProgram) : find_study(name_or_file);
  if (!source) return {};
  const auto root = parse_yaml(source->text, source->shown, kProgramLimits);
  if (!root || root->kind != YamlNode::Kind::kMap) return {};
  if (const YamlNode* kind = root->find("kind")) return kind->text;
  return root->find("lists") != nullptr ? "program" : "";
}

}  // namespace infold::config
