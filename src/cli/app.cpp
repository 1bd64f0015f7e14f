// Assembles the commands and turns every error of the command line into one clear line and exit code 2.
#include "cli/app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/named_files.h"
#include "cli/options/effects.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "config/yaml/suggest.h"

namespace infold::cli {

namespace {
/// The first word, if it was meant as a command and is not one.
bool is_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const std::string_view word = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(c->get_name());
  std::vector<std::string_view> views(names.begin(), names.end());
  for (const auto& n : views) {
    if (n == word) return false;
  }
  bad_input(fmt::format("there is no command '{}'{}; try 'infold --help'", word,
                        config::did_you_mean(word, views)));
  return true;
}

/// What is wrong with a command line that CLI11 refused, and where to read more.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* innermost = &app;
  std::string words = "infold";
  while (!innermost->get_subcommands().empty()) {
    innermost = innermost->get_subcommands().front();
    words += fmt::format(" {}", innermost->get_name());
  }
  const CLI::App& command = *innermost;
  const std::string help = fmt::format("; try '{} --help'", words);
  const auto extras = app.remaining(/*recurse=*/true);
  if (extras.empty()) return (innermost == &app ? "a command is missing" : error.what()) + help;
  // "--Report=x" is a misspelt option together with its value.
  const std::string option = extras.front().substr(0, extras.front().find('='));
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    // Every single letter is one typing error from every other, so only the same letter in the wrong case is
    // suggested.
    for (const std::string& name : o->get_snames()) {
      if (config::edit_distance(option, "-" + name) == 0) names.push_back("-" + name);
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("'{}' was not expected{}{}", extras.front(), config::did_you_mean(option, views), help);
}

void add_commands(CLI::App& app, const std::string& typed, int& exit, Effects& effects) {
  add_bench(app, typed, exit, effects);
  add_train(app, typed, exit, effects);
  add_compare(app, typed, exit, effects);
  add_explain(app, typed, exit, effects);
  add_replay(app, typed, exit, effects);
  add_study(app, typed, exit);
  add_sweep(app, typed, exit);
  add_learn(app, exit);
  add_validate(app, typed, exit);
  add_doctor(app, typed, exit);
  add_check(app, exit);
  add_import(app, exit);
  add_export(app, exit);
  add_program(app, exit, effects);
  add_list(app, exit);
  add_describe(app, exit);
}

/// Thrown when everything was understood, so that nothing is carried out. The commands keep their callbacks,
/// which own the storage of their options.
struct Understood {};
/// Thrown when everything was understood and a file would be lost.
struct Refused {
  sim::Error why;
};
}  // namespace

sim::Status check_words(const std::vector<std::string>& words) {
  int exit = kDone;
  CLI::App app{"infold", "infold"};
  app.require_subcommand(1);
  // Whether options have an effect may depend on what a sweep adds to these words, so a point tells.
  Effects effects;
  add_commands(app, "", exit, effects);
  app.parse_complete_callback([] { throw Understood{}; });
  std::vector<std::string> backwards(words.rbegin(), words.rend());  // in the order that CLI11 expects
  try {
    app.parse(backwards);
  } catch (const Understood&) {
    return {};
  } catch (const CLI::Success&) {
    return sim::fail("it asks for help and nothing else");
  } catch (const CLI::ParseError& e) {
    return sim::fail(explain(app, e));
  }
  return {};
}

namespace {
/// If a standard stream is closed, the next file that is opened would take its place. This opens it as a
/// stream that cannot be used.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF && ::open("/dev/null", O_RDONLY) != stream) return;
  }
}

/// A reader that closed a pipe has seen enough, and gets no error message.
bool reader_has_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

/// Refuses an option to which nothing is given, as by a script's variable that was not set.
sim::Status check_options(const CLI::App& app) {
  for (const CLI::App* command = &app;; command = command->get_subcommands().front()) {
    for (const CLI::Option* option : command->get_options()) {
      const auto& given = option->results();
      if (option->count() > 0 && std::find(given.begin(), given.end(), "") != given.end())
        return sim::fail(fmt::format("{}: nothing is given", option->get_name()));
    }
    if (command->get_subcommands().empty()) return {};
  }
}
}  // namespace

int run(int argc, char** argv) {
  keep_standard_streams();
  watch_for_interrupt();
  int exit = kDone;
  CLI::App app{"infold: simulates collectives on multi-GPU machines, packet by packet", "infold"};
  app.set_version_flag("--version", fmt::format("infold {}", kVersion));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  infold bench all_reduce -b 1M -e 1G -f 2 --system dgx-a100\n"
      "  infold bench gemm -m 8192 -n 8192 -k 8192 --gpu h100\n"
      "  infold train --system dgx-a100 --model resnet50 --batch 256\n"
      "  infold explain --system dgx-a100 --model transformer-big --batch 8 --seq 64\n"
      "  infold sweep table-knee\n"
      "  infold list systems\n"
      "  infold describe system dgx-a100\n"
      "Exit codes: 0 done, 1 the simulation failed, 2 bad input, 130 interrupted.");
  Effects effects;
  add_commands(app, typed_again(argc, argv), exit, effects);
  if (is_unknown_command(app, argc, argv)) return kBadInput;
  app.parse_complete_callback([&app, &effects] {
    if (auto given = check_options(app); !given) throw Refused{std::move(given.error())};
    if (auto used = effects.check(); !used) throw Refused{std::move(used.error())};
    if (auto safe = check_files(app); !safe) throw Refused{std::move(safe.error())};
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    app.exit(e);  // prints the output of --help and --version
  } catch (const CLI::ParseError& e) {
    return bad_input(explain(app, e));
  } catch (const Refused& e) {
    return failure(e.why);
  }
  // Output that could not be written must not count as success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    if (!reader_has_gone()) bad_input("cannot write to standard output");
    return kFailed;
  }
  return exit;
}

}  // namespace infold::cli
