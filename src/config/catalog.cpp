// Finds the file or preset, checks that it is of the kind asked for, and lets the loader read it.
#include "config/catalog.h"

#include <fmt/format.h>

#include <utility>

#include "config/loader.h"
#include "config/yaml/overrides.h"
#include "config/yaml/source.h"
#include "config/yaml/text.h"

namespace infold::config {
namespace {

sim::Result<OpenFile> open(FileKind kind, std::string_view name_or_file) {
  auto found = find_source(kind, name_or_file, nullptr);
  if (!found) return sim::fail(unread(name_or_file, std::move(found.error())));
  return open_file(std::move(*found));
}

sim::Result<OpenFile> open_as(FileKind kind, std::string_view name_or_file) {
  sim::Result<OpenFile> opened = open(kind, name_or_file);
  if (!opened || opened->kind == kind) return opened;
  return sim::fail(at(opened->source.shown, opened->root.find("kind")->at,
                      fmt::format("this is a {}, expected a {}", kind_name(opened->kind), kind_name(kind))));
}

std::vector<PresetInfo> list(FileKind kind) {
  std::vector<PresetInfo> out;
  for (const std::string& name : preset_names(kind)) {
    const sim::Result<AnySpec> loaded = load_any(name, {});
    if (loaded) out.push_back({name, std::visit([](const auto& spec) { return spec.summary; }, *loaded)});
  }
  return out;
}

template <class Spec>
sim::Result<AnySpec> widen(sim::Result<Spec> r) {
  return std::move(r).map([](Spec&& spec) { return AnySpec{std::move(spec)}; });
}

/// Loads the file as its kind says.
sim::Result<AnySpec> load_with(Loader& loader, const OpenFile& file) {
  switch (file.kind) {
    case FileKind::kSystem:
      return widen(loader.system(file));
    case FileKind::kGpu:
      return widen(loader.gpu(file));
    case FileKind::kModel:
      return widen(loader.model(file));
  }
  return sim::fail(at(file.source.shown, {}, "of no known kind"));
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

sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, const Validate& validate) {
  sim::Result<OpenFile> opened = open_as(FileKind::kSystem, name_or_file);
  if (!opened) return sim::fail_as(std::move(opened));
  return Loader(validate).system(*opened);
}

sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, std::span<const std::string> sets,
                                           const Validate& validate) {
  if (sets.empty()) return load_system(name_or_file, validate);
  auto system = load_system(name_or_file, Validate{});
  if (!system) return system;
  auto changed = apply_overrides(*system, sets);
  const bool applied = changed.has_value();
  if (applied && validate) changed = validate(*system);
  if (changed) return system;
  if (changed.error().kind == sim::Error::Kind::kInterrupted) return sim::fail_as(std::move(changed));
  if (auto file = load_system(name_or_file, validate); !file) return file;
  if (!applied) return sim::fail_as(std::move(changed));
  return sim::fail(fmt::format("--set: {}: {}", changed.error().parameter, changed.error().message));
}

sim::Result<gpu::GpuSpec> load_gpu(std::string_view name_or_file) {
  sim::Result<OpenFile> opened = open_as(FileKind::kGpu, name_or_file);
  if (!opened) return sim::fail_as(std::move(opened));
  return Loader({}).gpu(*opened);
}

sim::Result<train::Model> load_model(std::string_view name_or_file) {
  sim::Result<OpenFile> opened = open_as(FileKind::kModel, name_or_file);
  if (!opened) return sim::fail_as(std::move(opened));
  return Loader({}).model(*opened);
}

sim::Result<AnySpec> load_any(std::string_view name_or_file, const Validate& validate) {
  FileKind kind = FileKind::kSystem;
  for (const FileKind k : kFileKinds) {
    for (const std::string& preset : preset_names(k)) {
      if (preset == name_or_file) kind = k;
    }
  }
  sim::Result<OpenFile> opened = open(kind, name_or_file);
  if (!opened) return sim::fail_as(std::move(opened));
  Loader loader(validate);
  return load_with(loader, *opened);
}

std::vector<std::string> files_behind(std::string_view name_or_file) {
  if (!is_file_reference(name_or_file)) return {};
  const sim::Result<OpenFile> opened = open(FileKind::kSystem, name_or_file);  // opens a file of any kind
  if (!opened) return {std::string(name_or_file)};
  Loader loader({});
  load_with(loader, *opened);
  return loader.files();
}

}  // namespace infold::config
