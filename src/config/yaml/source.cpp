// Presets are embedded under gpus/, models/ and systems/, so a reference cannot leave those folders.
#include "config/yaml/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "embedded_presets.h"

namespace infold::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".yaml";

std::string folder_of(FileKind kind) {
  return fmt::format("{}s/", kind_name(kind));
}

const embedded::File* find_preset(FileKind kind, std::string_view name) {
  const std::string path = fmt::format("{}{}{}", folder_of(kind), name, kExtension);
  for (const embedded::File& f : embedded::presets()) {
    if (f.path == path) return &f;
  }
  return nullptr;
}

std::string why_unknown(FileKind kind, std::string_view name) {
  const std::vector<std::string> names = preset_names(kind);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string why = fmt::format("unknown {} {}", kind_name(kind), quote(name));
  std::error_code ignored;
  for (const FileKind other : kFileKinds) {
    if (other == kind || find_preset(other, name) == nullptr) continue;
    return why + fmt::format(" (that is a {})", kind_name(other));
  }
  if (const auto near = nearest(name, views)) {
    why += fmt::format(" (did you mean '{}'?)", *near);
  } else if (name.size() < 256 && fs::is_regular_file(fs::path(name), ignored)) {
    why += fmt::format(" (for the file of that name write './{}')", name);
  } else {
    why += fmt::format(" (there are: {})", fmt::join(names, ", "));
  }
  return why;
}

sim::Result<Source> from_preset(FileKind kind, std::string_view name) {
  const embedded::File* file = find_preset(kind, name);
  if (file == nullptr) return sim::fail(why_unknown(kind, name));
  const std::string shown = "presets/" + std::string(file->path);
  return Source{shown, "preset:" + shown, std::string(name), {}, true, std::string(file->text)};
}

}  // namespace

std::string_view kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::kSystem:
      return "system";
    case FileKind::kGpu:
      return "gpu";
    case FileKind::kModel:
      return "model";
  }
  return "?";
}

bool is_file_reference(std::string_view reference) {
  constexpr std::array<std::string_view, 5> kEndings = {".yaml", ".yml", ".json", ".xml", ".gz"};
  return reference.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return reference.ends_with(ending); });
}

std::string stem_of(std::string_view reference) {
  return is_file_reference(reference) ? fs::path(reference).stem().string() : std::string(reference);
}

sim::Error unread(std::string_view reference, sim::Error why) {
  if (is_file_reference(reference)) why.place.file = reference;
  return why;
}

sim::Result<Source> find_source(FileKind kind, std::string_view reference, const Source* from) {
  if (reference.find('\0') != std::string_view::npos) return sim::fail("a name cannot hold a NUL byte");
  if (!is_file_reference(reference)) return from_preset(kind, reference);
  if (from != nullptr && from->embedded) return sim::fail("a preset can only refer to presets");
  const fs::path path(reference);
  return read_source(from == nullptr || path.is_absolute() ? path : (from->folder / path).lexically_normal(),
                     kLargestFile);
}

sim::Result<Source> read_source(const fs::path& path, std::size_t largest) {
  const auto cannot = [&](std::string_view why) { return sim::fail(fmt::format("cannot read it: {}", why)); };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return sim::fail(error && status.type() == fs::file_type::none ? "cannot read it: " + error.message()
                                                                   : "no such file");
  if (fs::is_directory(status)) return cannot("it is a directory");
  // A pipe would block and a device might never end.
  if (!fs::is_regular_file(status)) return cannot("it is not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return cannot(std::strerror(errno));
  // A file that states no size is not read at all: it is empty, or it is a device that only looks like a file
  // (/proc/kmsg) and would block.
  const bool something = fs::file_size(path, error) > 0 && !error;
  // The file is read piece by piece: a stated size can be wrong, and most files are far smaller than the
  // largest.
  std::string text;
  std::array<char, 16384> piece;  // NOLINT(*-member-init): read() fills it
  while (something && in && text.size() <= largest) {
    in.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return cannot("reading failed");
  if (text.size() > largest) return cannot(fmt::format("it is larger than {} MiB", largest >> 20));
  const fs::path canonical = fs::weakly_canonical(path, error);
  const std::string id = "file:" + (error ? path : canonical).string();
  return Source{path.string(), id, path.stem().string(), path.parent_path(), false, std::move(text)};
}

std::vector<std::string> preset_names(FileKind kind) {
  const std::string folder = folder_of(kind);
  std::vector<std::string> names;
  for (const embedded::File& f : embedded::presets()) {
    if (!f.path.starts_with(folder) || !f.path.ends_with(kExtension)) continue;
    std::string_view name = f.path.substr(folder.size());
    name.remove_suffix(kExtension.size());
    names.emplace_back(name);
  }
  std::ranges::sort(names);  // files are in the order of their paths, in which "-" is before "."
  return names;
}

}  // namespace infold::config
