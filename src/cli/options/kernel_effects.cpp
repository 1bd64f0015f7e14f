// When the options of `infold bench gemm|conv|copy|stream|attention` have an effect.
#include <CLI/CLI.hpp>

#include <array>
#include <string>

#include "cli/options/effects.h"
#include "cli/options/kernel_options.h"
#include "coll/algo/algorithms.h"

namespace infold::cli {

void add_kernel_effects(CLI::App& c, const KernelArguments& a, Effects& effects) {
  const auto beside = [&a] { return !a.beside.empty(); };
  constexpr std::array kOfTheCollective = {
      "--beside-size",   "--algo",     "--proto",   "--beside-engine", "--burst",
      "--coll-channels", "--priority", "--without", "--what-if",       "--nodes"};
  for (const char* name : kOfTheCollective)
    effects.only(c.get_option(name), beside, "without --beside: no collective runs beside the kernel");
  effects.only(
      c.get_option("--coll-channels"), [&a] { return a.beside_engine == "sm"; },
      "with --beside-engine, which has as many channels as copy engines or accelerators");
  effects.only(
      c.get_option("--coll-channels"),
      [&a] {
        const coll::Algorithm* found = coll::find_algorithm(a.algorithm);
        return found == nullptr || !found->in_network;
      },
      "with an in-network algorithm, which does not run on workgroups of coll.channels (nvls has "
      "coll.nvls.channels)");
  effects.only(
      c.get_option("--priority"),
      [&a] {
        const coll::Algorithm* found = coll::find_algorithm(a.algorithm);
        return found == nullptr || found->unit != inc::Unit::kProposed;
      },
      "with inc-pull and inc-push, which hold no SM");
  effects.only(
      c.get_option("--sms-taken"), [&a] { return a.beside.empty(); },
      "with --beside: the collective takes SMs");
  if (a.kernel != "copy") return;
  effects.only(
      c.get_option("--dtype"), [] { return false; }, "on a copy, which moves bytes of any type");
  for (const char* name : {"--sms-taken", "--sms-reserved"}) {
    effects.only(
        c.get_option(name), [&a] { return a.engine != "dma"; }, "with --engine dma, which needs no SM");
  }
}

}  // namespace infold::cli
