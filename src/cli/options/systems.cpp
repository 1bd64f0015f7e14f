// Loads systems for commands.
#include "cli/options/systems.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <system_error>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "config/catalog.h"
#include "config/yaml/overrides.h"
#include "config/yaml/units.h"
#include "formats/catalog.h"
#include "study/check.h"

namespace infold::cli {

void add_nodes_argument(CLI::App& command, int& nodes) {
  command
      .add_option(
          "--nodes", nodes,
          "so many nodes, each as the system says (default: the system's); -g counts GPUs over all nodes")
      ->check(CLI::Range(1, net::kMostMachineNodes));
}

std::vector<std::string> with_nodes(std::vector<std::string> sets, int nodes) {
  if (nodes > 0) sets.insert(sets.begin(), fmt::format("nodes={}", nodes));
  return sets;
}

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

std::string valid_seed(const std::string& typed) {
  std::uint64_t value = 0;
  const char* end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, value);
  return error == std::errc{} && stopped == end ? ""
                                                : fmt::format("'{}' is not a whole number from 0 on", typed);
}

sim::Result<sim::Bytes> parse_size_with_unit(std::string_view option, const std::string& text) {
  const auto parsed = config::parse_size(text);
  if (!parsed) return sim::fail(sim::prefixed(option, parsed.error()));
  // A bucket of 50 bytes is never meant: the number was probably copied from a framework that counts in MB.
  constexpr sim::Bytes kSurely = sim::Bytes::kib(64);
  const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
  if (bare && *parsed > sim::Bytes{} && *parsed < kSurely) {
    return sim::fail(fmt::format("{}: {} is a number of bytes; say what is meant, e.g. {}MiB or {}B", option,
                                 text, text, text));
  }
  return *parsed;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void complain(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

sim::Result<std::vector<study::SystemPtr>> load_systems(const std::string& list,
                                                        const std::vector<std::string>& sets) {
  std::vector<study::SystemPtr> systems;
  for (const std::string& name : split(list)) {
    study::PreparingCheck check([] { return !interrupted(); });
    auto system = formats::load_system(name, sets, std::ref(check));
    if (interrupted()) return sim::interrupted();
    if (!system) return sim::fail_as(std::move(system));
    systems.push_back(check.prepared());
  }
  return systems;
}

sim::Result<study::SystemPtr> load_one_system(const std::string& name, const std::vector<std::string>& sets) {
  auto systems = load_systems(name, sets);
  if (!systems) return sim::fail_as(std::move(systems));
  if (systems->size() != 1) return sim::fail("--system: one system at a time");
  return std::move(systems->front());
}

namespace {

/// `--set` on a GPU: its paths are those of a system.
sim::Result<gpu::GpuSpec> with_sets(gpu::GpuSpec gpu, const std::vector<std::string>& sets) {
  study::SystemSpec system;
  system.machine.gpu = std::move(gpu);
  for (const std::string& assignment : sets) {
    if (auto applied = config::apply_override(system, assignment); !applied)
      return sim::fail_as(std::move(applied));
    if (!assignment.starts_with("gpu.")) {
      return sim::fail(fmt::format(
          "--set: {}: a kernel runs on one GPU, so only its parameters count (gpu....)", assignment));
    }
  }
  return std::move(system.machine.gpu);
}

}  // namespace

sim::Result<gpu::GpuSpec> load_gpu(const std::string& name, const std::vector<std::string>& sets) {
  auto gpu = config::load_gpu(name);
  if (!gpu) return gpu;
  return with_sets(std::move(*gpu), sets);
}

sim::Result<gpu::GpuSpec> load_gpu_of(const std::string& system, const std::vector<std::string>& sets) {
  auto loaded = load_one_system(system, {});
  if (!loaded) return sim::fail_as(std::move(loaded));
  return with_sets((*loaded)->machine.gpu, sets);
}

}  // namespace infold::cli
