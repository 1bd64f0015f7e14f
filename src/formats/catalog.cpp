// Looks at what a file holds, and hands it to its reader.
#include "formats/catalog.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "config/program_file.h"
#include "config/yaml/overrides.h"
#include "config/yaml/source.h"
#include "config/yaml/text.h"
#include "formats/model/hugging_face.h"
#include "formats/msccl/msccl_program.h"
#include "formats/text/file_text.h"
#include "formats/topology/nvidia_topo.h"
#include "formats/topology/topology_system.h"

namespace infold::formats {

namespace {

sim::Failure other_kind(const std::string& file, Format format, std::string_view expected) {
  return sim::fail(
      config::at(file, {}, fmt::format("this is {}, expected a {}", meaning_of(format), expected)));
}

std::string program_name(const std::string& file) {
  constexpr std::size_t kLongestShown = 32;
  return config::shown(std::filesystem::path(file).filename().string(), kLongestShown);
}

bool is_yaml(std::string_view file) {
  return file.ends_with(".yaml") || file.ends_with(".yml");
}

struct Foreign {
  FileText text;
  Format format = Format::kOurs;
};

/// Files of ours, presets and what cannot be read are left to the readers of ours, which read nothing that is
/// packed.
sim::Result<Foreign> open_foreign(std::string_view name_or_file) {
  Foreign out;
  if (!config::is_file_reference(name_or_file) || is_yaml(name_or_file)) return out;
  const bool packed = name_or_file.ends_with(".gz");
  auto text = read_file(std::string(name_or_file));
  if (!text) return packed ? sim::Result<Foreign>(sim::fail_as(std::move(text))) : out;
  out.format = recognise(text->text);
  if (out.format == Format::kUnknown) out.format = Format::kOurs;
  if (packed && out.format == Format::kOurs)
    return sim::fail(config::at(text->file, {},
                                "what it holds is not a file of another program that is known; files of "
                                "infold are read unpacked"));
  out.text = std::move(*text);
  return out;
}

}  // namespace

std::string model_stem(const FileText& text) {
  return text.stem == "config" && !text.folder.empty() ? text.folder : text.stem;
}

Format format_of(std::string_view name_or_file) {
  const auto foreign = open_foreign(name_or_file);
  return foreign ? foreign->format : Format::kUnknown;
}

sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, std::span<const std::string> sets,
                                           const config::Validate& validate) {
  const auto opened = open_foreign(name_or_file);
  if (!opened) return sim::fail_as(opened);
  const Foreign& foreign = *opened;
  const std::string& file = foreign.text.file;
  if (foreign.format == Format::kOurs) return config::load_system(name_or_file, sets, validate);
  const bool matrix = foreign.format == Format::kNvidiaTopo;
  if (!matrix && foreign.format != Format::kNcclTopology) return other_kind(file, foreign.format, "system");
  auto read = matrix ? read_nvidia_topo(foreign.text.text, file, foreign.text.stem)
                     : read_topology_system(foreign.text.text, file, foreign.text.stem);
  if (!read) return sim::fail_as(std::move(read));
  study::SystemSpec system = std::move(read->system);
  if (auto changed = config::apply_overrides(system, sets); !changed) return sim::fail_as(std::move(changed));
  if (!validate) return system;
  auto valid = validate(system);
  if (valid) return system;
  sim::Error& error = valid.error();
  if (error.kind == sim::Error::Kind::kInterrupted) return sim::fail_as(std::move(valid));
  if (const std::string parameter = error.parameter; !parameter.empty())
    error = sim::prefixed(parameter, std::move(error));
  if (sets.empty()) error.place = {file, 0, 0};
  return sim::fail(std::move(error));
}

sim::Result<train::Model> load_model(std::string_view name_or_file) {
  const auto opened = open_foreign(name_or_file);
  if (!opened) return sim::fail_as(opened);
  const Foreign& foreign = *opened;
  if (foreign.format == Format::kOurs) return config::load_model(name_or_file);
  if (foreign.format != Format::kHuggingFace) return other_kind(foreign.text.file, foreign.format, "model");
  auto read = read_hugging_face(foreign.text.text, foreign.text.file, model_stem(foreign.text));
  if (!read) return sim::fail_as(std::move(read));
  return std::move(read->model);
}

sim::Result<coll::OwnProgram> load_program(const std::string& file) {
  const auto opened = open_foreign(file);
  if (!opened) return sim::fail_as(opened);
  const Foreign& foreign = *opened;
  if (foreign.format == Format::kOurs) {
    return config::load_program(file).map([](config::ProgramFile&& read) { return std::move(read.own); });
  }
  if (foreign.format != Format::kMsccl) return other_kind(file, foreign.format, "program");
  auto read = read_msccl(foreign.text.text, file);
  if (!read) return sim::fail_as(std::move(read));
  read->own.name = program_name(file);
  return std::move(read->own);
}

}  // namespace infold::formats
