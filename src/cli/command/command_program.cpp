// infold program: what an algorithm tells every rank to do, as text or as a file for `infold bench
// --program`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/bench_options.h"
#include "cli/options/effects.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "coll/program/fit.h"
#include "formats/catalog.h"
#include "report/program_report.h"
#include "study/collective/choice.h"

namespace infold::cli {

namespace {

struct ProgramArguments {
  BenchArguments bench;
  std::string what;
  std::string size = "1M";
};

/// A user's program, at another size or with another protocol if that was asked for.
int show_own(const ProgramArguments& args, const CLI::App& command) {
  auto own = formats::load_program(args.bench.program);
  if (!own) return failure(own.error());
  const coll::Program& asked = own->program;
  BenchArguments words = args.bench;
  words.collective = sim::name_of(asked.collective);
  words.begin = words.end = command.count("--size") > 0 ? args.size : std::to_string(asked.bytes.count());
  if (command.count("--proto") == 0) words.protocols = sim::name_of(asked.tuning.protocol);
  const auto options = understand(words);
  if (!options) return failure(options.error());
  if (options->protocols.size() > 1 || !options->protocols.front())
    return bad_input("a program is of one protocol");
  const sim::Bytes bytes = whole_elements(*options, sim::Bytes{options->sizes.front()}, asked.ranks);
  const auto fitted = coll::fit(*own, bytes, *options->protocols.front(), coll::size_of(options->type));
  if (!fitted) return failure(fitted.error(), own->name);
  const report::ProgramHeading heading{own->name, ""};
  print(words.json ? report::program_json(*fitted, heading) : report::program_text(*fitted, heading));
  return kDone;
}

int show(const ProgramArguments& args, const CLI::App& command) {
  if (args.what != "show")
    return bad_input(fmt::format("there is no 'program {}'; there is show", args.what));
  if (!args.bench.program.empty()) return show_own(args, command);
  BenchArguments words = args.bench;
  words.begin = words.end = args.size;
  const auto understood = understand(words);
  if (!understood) return failure(understood.error());
  const BenchOptions& options = *understood;
  const auto systems = load_systems(words.systems, with_nodes(words.sets, words.nodes));
  if (!systems) return failure(systems.error());
  if (systems->size() > 1 || options.algorithms.size() > 1 || options.engines.size() > 1 ||
      options.protocols.size() > 1 || !options.protocols.front())
    return bad_input("a program is of one algorithm, protocol and engine on one system");
  const study::SystemSpec& system = *systems->front();
  const int gpus = words.gpus > 0 ? words.gpus : system.machine.all_gpus();
  if (gpus > system.machine.all_gpus())
    return bad_input(fmt::format("-g: {} has {} GPUs, not {}", system.name, system.machine.all_gpus(), gpus));
  const sim::GoOn go_on = [] { return !interrupted(); };
  study::CollectiveJob job;
  job.system = systems->front();
  job.algorithm = options.algorithms.front();
  job.engine = options.engines.front();
  job.collective = options.collective;
  job.bytes = whole_elements(options, sim::Bytes{options.sizes.front()}, gpus);
  job.protocol = *options.protocols.front();
  job.root = words.root;
  job.gpus = gpus;
  if (job.algorithm == nullptr) {
    const auto offers = study::offers_of(job, nullptr, job.protocol);
    if (offers.empty()) return bad_input(study::why_no_offers(job, job.protocol));
    job.algorithm = offers.front().algorithm;
    if (auto ok = study::check_request(job); !ok) return failure(ok.error());
    job.algorithm = study::choose(job, offers, go_on).algorithm;
  }
  const auto prepared = study::prepare(job, go_on);
  if (!prepared) return failure(prepared.error());
  const coll::Program& program = prepared->program();
  const report::ProgramHeading heading{job.algorithm->name, system.name};
  print(words.json ? report::program_json(program, heading) : report::program_text(program, heading));
  return kDone;
}

}  // namespace

void add_program(CLI::App& app, int& exit, Effects& effects) {
  auto args = std::make_shared<ProgramArguments>();
  BenchArguments& b = args->bench;
  b.collective = "all_reduce";
  b.protocols = "simple";
  CLI::App* c = app.add_subcommand("program", "the steps that an algorithm compiles a collective into");
  c->add_option("what", args->what, "show")->required();
  c->add_option("collective", b.collective, "which collective")->capture_default_str();
  c->add_option("--algo", b.algorithms, "algorithm; auto: choose")->capture_default_str();
  c->add_option("--program", b.program,
                "the program of this file instead of an algorithm's, made to fit --size and --proto");
  c->add_option("--proto", b.protocols, "wire protocol: simple, ll or ll128")->capture_default_str();
  c->add_option("--engine", b.engines, "what carries it out: sm, dma or ace")->capture_default_str();
  c->add_option("--system", b.systems, "preset or file")->capture_default_str();
  c->add_option("--size", args->size, "bytes, e.g. 1K, 32M")->capture_default_str();
  c->add_option("-g,--gpus,--ngpus", b.gpus,
                "use this many GPUs, the first ones of the system (default: all)")
      ->check(CLI::Range(1, net::kMostGpus));
  add_nodes_argument(*c, b.nodes);
  c->add_option("-r,--root", b.root, "root of a broadcast or reduce")
      ->capture_default_str()
      ->check(CLI::Range(0, 1023));
  c->add_option("-d,--datatype", b.dtype, "fp32, fp16, bf16 or int32")->capture_default_str();
  c->add_option("--set", b.sets, "change a parameter")->allow_extra_args(false);
  c->add_flag("--json", b.json, "print JSON, which 'infold bench --program' runs");
  c->footer(
      "Example:\n"
      "  infold program show --algo tree --size 64K -g 4 --json > tree.json\n"
      "  infold bench --program tree.json --check");
  effects.add(c->get_option("--root"), [args = args.get()]() -> std::string {
    for (const auto& known : coll::kCollectiveNames) {
      if (known.name == args->bench.collective && !coll::has_root(known.value))
        return fmt::format("on {}, which has no root; broadcast and reduce have one", known.name);
    }
    return "";
  });
  for (const char* name : {"collective", "--algo", "--engine", "--system", "--gpus", "--root", "--set"}) {
    effects.only(
        c->get_option(name), [&program = b.program] { return program.empty(); },
        "with --program, whose file says what every rank does");
  }
  c->callback([args, c, &exit] { exit = show(*args, *c); });
}

}  // namespace infold::cli
