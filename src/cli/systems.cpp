// Loads systems for commands.
#include "cli/systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "cli/app.h"
#include "config/catalog.h"
#include "config/yaml/overrides.h"
#include "study/check.h"

namespace infold::cli {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = list.find(',', begin);
    parts.push_back(list.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::string refuse_no_seed(const std::string& typed) {
  std::uint64_t value = 0;
  const char* end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, value);
  return error == std::errc{} && stopped == end ? ""
                                                : fmt::format("'{}' is not a whole number from 0 on", typed);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void complain(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

namespace {
/// What was typed may contain any characters, and is repeated in messages.
int complain_in_one_line(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  complain(line + '\n');
  return kBadInput;
}
}  // namespace

int bad_input(const std::string& message) {
  return complain_in_one_line(fmt::format("infold: {}", message));
}

int bad_file(const config::Diagnostic& error) {
  if (error.file.empty()) return bad_input(error.message);
  return complain_in_one_line(config::to_string(error));
}

std::optional<std::vector<study::SystemSpec>> load_systems(const std::string& list,
                                                           const std::vector<std::string>& sets) {
  std::vector<study::SystemSpec> systems;
  for (const std::string& name : split(list)) {
    auto loaded = config::load_system(name, study::check);
    if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) {
      bad_file(*error);
      return std::nullopt;
    }
    auto& system = std::get<study::SystemSpec>(loaded);
    if (auto error = config::apply_overrides(system, sets)) {
      bad_input(*error);
      return std::nullopt;
    }
    if (auto refusal = study::check(system); refusal && !sets.empty()) {
      bad_input(fmt::format("--set: {}: {}", refusal->path, refusal->why));
      return std::nullopt;
    }
    systems.push_back(std::move(system));
  }
  return systems;
}

std::optional<gpu::GpuSpec> load_gpu(const std::string& name, const std::vector<std::string>& sets) {
  auto loaded = config::load_gpu(name);
  if (const auto* error = std::get_if<config::Diagnostic>(&loaded)) {
    bad_file(*error);
    return std::nullopt;
  }
  study::SystemSpec system;  // the paths of --set are those of a system
  system.machine.gpu = std::get<gpu::GpuSpec>(loaded);
  for (const std::string& assignment : sets) {
    auto error = config::apply_override(system, assignment);
    if (!error && !assignment.starts_with("gpu.")) {
      error = fmt::format("--set: {}: a kernel runs on one GPU, so only its parameters count (gpu....)",
                          assignment);
    }
    if (error) {
      bad_input(*error);
      return std::nullopt;
    }
  }
  return system.machine.gpu;
}

}  // namespace infold::cli
