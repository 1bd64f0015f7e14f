// infold import: what a file of another program is, what of it was understood, and the same as a file of
// ours.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/named_output.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "formats/import.h"
#include "report/import_report.h"
#include "study/check.h"
#include "work/rescale.h"

namespace infold::cli {

namespace {

struct ImportArguments {
  std::vector<std::string> files;
  int step = -1;
  int gpus = 0;
  std::string out;
  std::string gpu;
  bool json = false;
};

/// A workload on as many ranks as were asked for.
sim::Status take_ranks(int gpus, formats::Imported& imported) {
  auto* workload = std::get_if<study::Workload>(&imported.value);
  if (gpus == 0) return {};
  if (workload == nullptr) return sim::fail("--gpus: only a workload can be put on other numbers of GPUs");
  auto rescaled = work::rescaled(std::move(workload->graph), gpus);
  if (!rescaled) return sim::fail(sim::prefixed("--gpus", rescaled.error()));
  workload->graph = std::move(rescaled->graph);
  if (rescaled->assumed.empty()) return {};
  workload->measured.reset();  // it was measured on others
  for (std::string& one : rescaled->assumed) {
    workload->sources.push_back(one);
    imported.notes.assumed.push_back(std::move(one));
  }
  return {};
}

int import_one(const ImportArguments& args) {
  const std::string& file = args.files.front();
  auto imported = formats::import_file(file, args.gpu, {.ranks = args.gpus, .step = args.step},
                                       {args.files.begin() + 1, args.files.end()});
  if (!imported) return failure(imported.error());
  if (auto ok = take_ranks(args.gpus, *imported); !ok) return failure(ok.error());
  if (const auto* system = std::get_if<study::SystemSpec>(&imported->value)) {
    if (const auto valid = study::check(*system); !valid) return failure(valid.error(), printable(file));
  }
  NamedOutput out({"--out", args.out});
  if (const int opened = out.open(); opened != kDone) return opened;
  if (out.wanted()) {
    if (const int written = out.write(report::import_file_text(*imported)); written != kDone) return written;
  }
  print(args.json ? report::import_json(*imported) : report::import_text(*imported, printable(file)));
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, int& exit) {
  auto args = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "what is this file of another program, and what does it say?");
  command
      ->add_option("file", args->files,
                   "a topology file of NCCL or RCCL, the output of nvidia-smi topo -m, a config.json of "
                   "Hugging Face, a log of nccl-tests, or traces of "
                   "Chakra or the PyTorch profiler, one for each rank; also packed (.gz)")
      ->required();
  command->add_option("-o,--out", args->out, "write the same as a file of infold (measurements: JSON)")
      ->check(valid_file_name);
  command->add_option("--gpu", args->gpu,
                      "the preset of the GPUs, where a topology file does not say which they are");
  command
      ->add_option("--step", args->step,
                   "of a profile: the ProfilerStep of this number (default: the one in the middle)")
      ->check(CLI::Range(0, 1'000'000'000));
  command
      ->add_option("-g,--gpus,--ngpus", args->gpus,
                   "put a workload on so many GPUs: data-parallel groups grow or shrink, others stay")
      ->check(CLI::Range(1, net::kMostGpus));
  command->add_flag("--json", args->json, "print JSON");
  command->footer("Example:\n  infold import topo.xml -o my-machine.yaml");
  command->callback([args, &exit] { exit = import_one(*args); });
}

}  // namespace infold::cli
