// Puts the commands together and turns every error of the command line into one clear line and exit code 2.
#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "cli/interrupt.h"
#include "config/suggest.h"

namespace infold::cli {

namespace {
/// The first word, when it was meant as a command and is none.
bool is_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const std::string_view word = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(c->get_name());
  std::vector<std::string_view> views(names.begin(), names.end());
  for (const auto& n : views) {
    if (n == word) return false;
  }
  fmt::print(stderr, "infold: there is no command '{}'{}; try 'infold --help'\n", word, config::did_you_mean(word, views));
  return true;
}
}  // namespace

int run(int argc, char** argv) {
  watch_for_interrupt();
  int exit = kDone;
  CLI::App app{"infold: simulates collectives and training on multi-GPU machines", "infold"};
  app.set_version_flag("--version", "infold 0.1.0");
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  infold bench all_reduce -b 1M -e 1G -f 2 --system dgx-a100\n"
             "  infold list systems\n"
             "  infold describe system dgx-a100\n"
             "Exit codes: 0 done, 1 the simulation failed, 2 bad input.");
  add_bench(app, exit);
  add_check(app, exit);
  add_list(app, exit);
  add_describe(app, exit);
  if (is_unknown_command(app, argc, argv)) return kBadInput;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help and --version
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "infold: {}\n", e.what());
    return kBadInput;
  }
  return exit;
}

}  // namespace infold::cli
