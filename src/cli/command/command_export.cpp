// infold export: a file of ours in the format of another program.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "formats/catalog.h"
#include "formats/msccl/msccl_export.h"

namespace infold::cli {

namespace {

struct ExportArguments {
  std::string kind;
  std::string name;
  std::string format = "msccl";
  std::string out;
};

int export_program(const ExportArguments& args) {
  if (args.kind != "program")
    return bad_input(fmt::format("only a program can be exported, not a '{}'", args.kind));
  if (args.format != "msccl")
    return bad_input(fmt::format("--format: a program is exported as msccl, not as '{}'", args.format));
  const auto own = formats::load_program(args.name);
  if (!own) return failure(own.error());
  const auto text = formats::to_msccl(*own);
  if (!text) return failure(text.error(), printable(args.name));
  NamedOutput out({"--out", args.out});
  if (!out.wanted()) {
    print(*text);
    return kDone;
  }
  if (const int opened = out.open(); opened != kDone) return opened;
  return out.write(*text);
}

}  // namespace

void add_export(CLI::App& app, int& exit) {
  auto args = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "a program of infold as a file of another program");
  command->add_option("kind", args->kind, "program")->required();
  command->add_option("name", args->name, "the file of a program, as 'infold program show --json' prints it")
      ->required();
  command->add_option("--format", args->format, "msccl: XML of MSCCL")->capture_default_str();
  command->add_option("-o,--out", args->out, "write it to this file instead of printing it")
      ->check(valid_file_name);
  command->footer(
      "Example:\n  infold program show --algo ring --json > ring.json\n  infold export program ring.json -o "
      "ring.xml");
  command->callback([args, &exit] { exit = export_program(*args); });
}

}  // namespace infold::cli
