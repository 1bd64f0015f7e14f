// Finds the file or preset, checks that it is of the kind asked for, and lets the loader read it.
#include "config/catalog.h"

#include <fmt/format.h>

#include <utility>

#include "config/loader.h"
#include "config/yaml/source.h"
#include "config/yaml/text.h"

namespace infold::config {
namespace {

Result<OpenFile> open(FileKind kind, std::string_view name_or_file) {
  auto found = find_source(kind, name_or_file, nullptr);
  if (auto* none = std::get_if<NoSource>(&found)) {
    const bool file = is_file_reference(name_or_file);
    return Diagnostic{file ? std::string(name_or_file) : "", 0, 0, std::move(none->why)};
  }
  return open_file(std::move(std::get<Source>(found)));
}

Result<OpenFile> open_as(FileKind kind, std::string_view name_or_file) {
  Result<OpenFile> opened = open(kind, name_or_file);
  const auto* file = std::get_if<OpenFile>(&opened);
  if (file == nullptr || file->kind == kind) return opened;
  return at(file->source.shown, file->root.find("kind")->at,
            fmt::format("this is a {}, expected a {}", kind_name(file->kind), kind_name(kind)));
}

std::vector<PresetInfo> list(FileKind kind) {
  std::vector<PresetInfo> out;
  for (const std::string& name : preset_names(kind)) {
    const Result<AnySpec> loaded = load_any(name, {});
    const auto* any = std::get_if<AnySpec>(&loaded);
    if (any != nullptr)
      out.push_back({name, std::visit([](const auto& spec) { return spec.summary; }, *any)});
  }
  return out;
}

template <class Spec>
Result<AnySpec> widen(Result<Spec> r) {
  if (auto* fault = std::get_if<Diagnostic>(&r)) return std::move(*fault);
  return AnySpec{std::move(std::get<Spec>(r))};
}

/// Loads a file as its kind says.
Result<AnySpec> load_with(Loader& loader, const OpenFile& file) {
  switch (file.kind) {
    case FileKind::kSystem:
      return widen(loader.system(file));
    case FileKind::kGpu:
      return widen(loader.gpu(file));
    case FileKind::kModel:
      return widen(loader.model(file));
  }
  return Diagnostic{file.source.shown, 0, 0, "of no known kind"};
}

}  // namespace

std::vector<PresetInfo> list_systems() {
  return list(FileKind::kSystem);
}
std::vector<PresetInfo> list_gpus() {
  return list(FileKind::kGpu);
}
std::vector<PresetInfo> list_models() {
  return list(FileKind::kModel);
}

Result<study::SystemSpec> load_system(std::string_view name_or_file, const Validate& validate) {
  Result<OpenFile> opened = open_as(FileKind::kSystem, name_or_file);
  if (auto* fault = std::get_if<Diagnostic>(&opened)) return std::move(*fault);
  return Loader(validate).system(std::get<OpenFile>(opened));
}

Result<gpu::GpuSpec> load_gpu(std::string_view name_or_file) {
  Result<OpenFile> opened = open_as(FileKind::kGpu, name_or_file);
  if (auto* fault = std::get_if<Diagnostic>(&opened)) return std::move(*fault);
  return Loader({}).gpu(std::get<OpenFile>(opened));
}

Result<train::Model> load_model(std::string_view name_or_file) {
  Result<OpenFile> opened = open_as(FileKind::kModel, name_or_file);
  if (auto* fault = std::get_if<Diagnostic>(&opened)) return std::move(*fault);
  return Loader({}).model(std::get<OpenFile>(opened));
}

Result<AnySpec> load_any(std::string_view name_or_file, const Validate& validate) {
  FileKind kind = FileKind::kSystem;
  for (const FileKind k : kFileKinds) {
    for (const std::string& preset : preset_names(k)) {
      if (preset == name_or_file) kind = k;
    }
  }
  Result<OpenFile> opened = open(kind, name_or_file);
  if (auto* fault = std::get_if<Diagnostic>(&opened)) return std::move(*fault);
  Loader loader(validate);
  return load_with(loader, std::get<OpenFile>(opened));
}

std::vector<std::string> files_behind(std::string_view name_or_file) {
  if (!is_file_reference(name_or_file)) return {};
  const Result<OpenFile> opened = open(FileKind::kSystem, name_or_file);  // its kind does not matter here
  const auto* file = std::get_if<OpenFile>(&opened);
  if (file == nullptr) return {std::string(name_or_file)};
  Loader loader({});
  load_with(loader, *file);
  return loader.files();
}

}  // namespace infold::config
