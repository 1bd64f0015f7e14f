// infold export: a file of ours in the format of another program.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "formats/catalog.h"
#include "formats/msccl/msccl_export.h"
#include "formats/trace/chakra_own.h"
#include "formats/trace/traces.h"

namespace infold::cli {

namespace {

struct ExportArguments {
  std::string kind;
  std::string name;
  std::string format = "msccl";
  std::string out;
};

/// A file for each rank: "OUT.0.et", "OUT.1.et" and so on.
int export_workload(const ExportArguments& args) {
  if (args.format != "chakra")
    return bad_input(fmt::format("--format: a workload is exported as chakra, not as '{}'", args.format));
  if (args.out.empty()) return bad_input("--out: say how the files begin; rank 0 is written to OUT.0.et");
  const auto loaded = formats::load_workload({args.name});
  if (!loaded) return failure(loaded.error());
  const auto chakra = formats::ChakraExport::make(loaded->workload);
  if (!chakra) return failure(chakra.error(), printable(args.name));
  const int ranks = loaded->workload.graph.ranks();
  constexpr int kMostOpen = 512;  // files that are open at the same time
  if (ranks > kMostOpen)
    return bad_input(
        fmt::format("{} ranks would be as many files; at most {} are written", ranks, kMostOpen));
  std::vector<std::unique_ptr<NamedOutput>> outputs;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file = fmt::format("{}.{}.et", args.out, rank);
    std::error_code error;
    if (std::filesystem::equivalent(file, args.name, error))
      return bad_input(fmt::format("--out would write over {}, which the command reads", file));
    outputs.push_back(std::make_unique<NamedOutput>(OutputPlace{"--out", file}));
    if (const int opened = outputs.back()->open(); opened != kDone) return opened;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string bytes = chakra->file_of(rank);
    if (const int written = outputs[static_cast<std::size_t>(rank)]->write(bytes); written != kDone)
      return written;
  }
  return kDone;
}

int export_program(const ExportArguments& args) {
  if (args.kind == "workload") return export_workload(args);
  if (args.kind != "program")
    return bad_input(fmt::format("a program or a workload can be exported, not a '{}'", args.kind));
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
  CLI::App* command =
      app.add_subcommand("export", "a program or a workload of infold as files of another program");
  command->add_option("kind", args->kind, "program or workload")->required();
  command
      ->add_option("name", args->name,
                   "the file of a program, as 'infold program show --json' prints it, or of a workload")
      ->required();
  command->add_option("--format", args->format, "msccl: XML of MSCCL; chakra: traces of Chakra")
      ->capture_default_str();
  command
      ->add_option("-o,--out", args->out,
                   "write it to this file instead of printing it; of a workload, how its files begin")
      ->check(valid_file_name);
  command->footer(
      "Example:\n  infold program show --algo ring --json > ring.json\n  infold export program ring.json -o "
      "ring.xml\n  infold export workload step.json --format chakra -o step");
  command->callback([args, &exit] { exit = export_program(*args); });
}

}  // namespace infold::cli
