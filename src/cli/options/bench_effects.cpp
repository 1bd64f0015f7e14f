// When the options of `infold bench` have an effect.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <string>

#include "cli/options/bench_options.h"
#include "cli/options/effects.h"
#include "cli/options/systems.h"
#include "coll/algo/algorithms.h"

namespace infold::cli {

namespace {

/// Returns the collective of a word such as "barrier"; nothing for a word that is not one, which is refused
/// elsewhere.
std::optional<coll::Collective> collective_of(const std::string& word) {
  for (const auto& c : coll::kCollectiveNames) {
    if (c.name == word) return c.value;
  }
  return std::nullopt;
}

bool names_auto(const std::string& list) {
  const auto words = split(list);
  return std::ranges::find(words, "auto") != words.end();
}

/// The options that say which sizes there are.
void add_size_effects(CLI::App& c, const BenchArguments& a, Effects& effects) {
  const CLI::Option* end = c.get_option("--maxbytes");
  for (const char* name : {"--minbytes", "--maxbytes", "--stepfactor", "--stepbytes"}) {
    effects.only(
        c.get_option(name), [&a] { return a.collective != "barrier"; }, "on a barrier, which has no size");
  }
  for (const char* name : {"--stepfactor", "--stepbytes"}) {
    effects.only(
        c.get_option(name), [end] { return end->count() > 0; }, "without -e, the largest size");
  }
  const CLI::Option* factor = c.get_option("--stepfactor");
  effects.only(
      c.get_option("--stepbytes"), [factor] { return factor->count() == 0; },
      "with -f, which multiplies the size instead; give one of them");
}

/// The options that only some collectives read.
void add_collective_effects(CLI::App& c, const BenchArguments& a, Effects& effects) {
  effects.add(c.get_option("--root"), [&a]() -> std::string {
    if (!a.program.empty()) return "with --program: the file names the root";
    const auto collective = collective_of(a.collective);
    if (!collective || coll::has_root(*collective)) return "";
    return fmt::format("on {}, which has no root; broadcast and reduce have one", a.collective);
  });
  effects.add(c.get_option("--op"), [&a]() -> std::string {
    const auto collective = collective_of(a.collective);
    if (!collective || coll::reduces(*collective)) return "";
    return fmt::format("on {}, which reduces nothing", a.collective);
  });
  effects.only(
      c.get_option("--datatype"), [&a] { return a.collective != "barrier"; },
      "on a barrier, which has no data");
}

/// The options that a program in a file replaces.
void add_program_effects(CLI::App& c, const BenchArguments& a, Effects& effects) {
  for (const char* name : {"--algo", "--engine", "--tune", "--tuning"}) {
    effects.only(
        c.get_option(name), [&a] { return a.program.empty(); }, "with --program, which brings its own steps");
  }
}

}  // namespace

void add_bench_effects(CLI::App& c, const BenchArguments& a, Effects& effects) {
  add_size_effects(c, a, effects);
  add_collective_effects(c, a, effects);
  add_program_effects(c, a, effects);
  effects.only(
      c.get_option("--inputs"), [&a] { return a.check; }, "without --check, which gives packets values");
  effects.only(
      c.get_option("--seed"), [&a] { return !a.skew.empty(); }, "without --skew, the one thing by chance");
  effects.only(
      c.get_option("--fallback"), [&a] { return !a.fail.empty(); }, "without --fail: nothing fails");
  effects.only(
      c.get_option("--trace-interval"), [&a] { return !a.trace.file.empty(); }, "without --trace");
  effects.only(
      c.get_option("--residency"), [&a] { return !a.json; }, "with --json, which always has it");
  effects.only(
      c.get_option("--tuning"),
      [&a] { return names_auto(a.algorithms) || names_auto(a.protocols) || !a.program.empty(); },
      "where neither --algo nor --proto is auto");
  effects.only(
      c.get_option("--channels"),
      [&a] {
        const auto engines = split(a.engines);
        const auto algorithms = split(a.algorithms);
        const auto by_workgroups = [](const std::string& name) {
          const coll::Algorithm* found = coll::find_algorithm(name);
          return found == nullptr || !found->in_network;
        };
        return a.program.empty() && std::ranges::find(engines, "sm") != engines.end() &&
               std::ranges::any_of(algorithms, by_workgroups);
      },
      "where no algorithm runs on workgroups of coll.channels (dma has gpu.copy.engines, ace "
      "gpu.ace.machines, "
      "nvls coll.nvls.channels, and a program its own)");
}

}  // namespace infold::cli
