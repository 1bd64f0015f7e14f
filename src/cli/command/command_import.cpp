// infold import: what a file of another program is, what of it was understood, and the same as a file of
// ours.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "formats/import.h"
#include "report/import_report.h"
#include "study/check.h"

namespace infold::cli {

namespace {

struct ImportArguments {
  std::string file;
  std::string out;
  std::string gpu;
  bool json = false;
};

int import_one(const ImportArguments& args) {
  const auto imported = formats::import_file(args.file, args.gpu);
  if (!imported) return failure(imported.error());
  if (const auto* system = std::get_if<study::SystemSpec>(&imported->value)) {
    if (const auto valid = study::check(*system); !valid) return failure(valid.error(), printable(args.file));
  }
  NamedOutput out({"--out", args.out});
  if (const int opened = out.open(); opened != kDone) return opened;
  if (out.wanted()) {
    if (const int written = out.write(report::import_file_text(*imported)); written != kDone) return written;
  }
  print(args.json ? report::import_json(*imported) : report::import_text(*imported, printable(args.file)));
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, int& exit) {
  auto args = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "what is this file of another program, and what does it say?");
  command
      ->add_option("file", args->file,
                   "a topology file of NCCL or RCCL, the output of nvidia-smi topo -m, a config.json of "
                   "Hugging Face, or a log of nccl-tests; "
                   "also packed (.gz)")
      ->required();
  command->add_option("-o,--out", args->out, "write the same as a file of infold (measurements: JSON)")
      ->check(valid_file_name);
  command->add_option("--gpu", args->gpu,
                      "the preset of the GPUs, where a topology file does not say which they are");
  command->add_flag("--json", args->json, "print JSON");
  command->footer("Example:\n  infold import topo.xml -o my-machine.yaml");
  command->callback([args, &exit] { exit = import_one(*args); });
}

}  // namespace infold::cli
