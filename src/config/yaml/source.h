// Where YAML text comes from: a preset in the binary or a file, found from how a user refers to it. Files are
// bounded and must be regular, so a device, a pipe or a huge file cannot hang a run or fill its memory.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"

namespace infold::config {

enum class FileKind { kSystem, kGpu, kModel };
inline constexpr std::array kFileKinds = {FileKind::kSystem, FileKind::kGpu, FileKind::kModel};

/// "system", "gpu" or "model", as in `kind:`.
std::string_view kind_name(FileKind kind);

struct Source {
  std::string shown;             ///< how messages name it
  std::string id;                ///< the same for every way to write the path of the same file
  std::string stem;              ///< the name of a file that does not give one
  std::filesystem::path folder;  ///< the folder that its own references are relative to
  bool embedded = false;
  std::string text;
};

/// An argument with a '/' or ending in .yaml, .yml, .json, .xml or .gz is a file, anything else the name of a
/// preset.
bool is_file_reference(std::string_view reference);

/// The name of what is referred to, if it does not give one itself.
std::string stem_of(std::string_view reference);

/// The reason why a name or file could not be read, with the file as its place if it is one.
sim::Error unread(std::string_view reference, sim::Error why);

/// Finds the preset or file of that kind. An error has no place, because the caller knows where the reference
/// stands. `from` is the source that refers to it, or null for the command line.
sim::Result<Source> find_source(FileKind kind, std::string_view reference, const Source* from);

/// Reads a file as it is, up to a number of bytes.
sim::Result<Source> read_source(const std::filesystem::path& path, std::size_t largest);

std::vector<std::string> preset_names(FileKind kind);

inline constexpr std::size_t kLargestFile = std::size_t{1} << 20;

}  // namespace infold::config
