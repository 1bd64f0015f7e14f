// From an option to a file.
#include "cli/named_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>
#include <variant>

#include "cli/app.h"
#include "cli/systems.h"

namespace infold::cli {

namespace {

/// The file itself, whatever way leads to it.
std::filesystem::path file_of(const OutputPlace& place) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::absolute(place.path, error);
  const std::filesystem::path file = std::filesystem::weakly_canonical(here, error);
  return error ? here : file;
}

}  // namespace

std::string refuse_no_name(const std::string& path) {
  return path.empty() ? "the file has no name" : "";
}

int refuse_same_file(std::initializer_list<OutputPlace> places) {
  std::map<std::filesystem::path, std::string_view> taken;
  for (const OutputPlace& place : places) {
    if (place.path.empty()) continue;
    const auto [at, free] = taken.emplace(file_of(place), place.option);
    if (!free)
      return bad_input(fmt::format("{} and {} are the same file: {}", at->second, place.option, place.path));
  }
  return kDone;
}

int NamedOutput::open() {
  if (!wanted()) return kDone;
  auto opened = report::OutputFile::open(place_.path);
  if (const auto* why = std::get_if<std::string>(&opened))
    return bad_input(fmt::format("{}: {}", place_.option, *why));
  file_.emplace(std::get<report::OutputFile>(std::move(opened)));
  return kDone;
}

int NamedOutput::write(std::string_view text) {
  const std::string why = file_->commit(text);
  if (why.empty()) return kDone;
  bad_input(fmt::format("{}: {}", place_.option, why));
  return kFailed;
}

}  // namespace infold::cli
