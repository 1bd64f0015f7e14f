// infold doctor: what a machine should give, what it was measured to give, and why it gives less.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/environment.h"
#include "cli/options/measured_log.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "formats/nccl_tests.h"
#include "formats/text/file_text.h"
#include "report/doctor_report.h"
#include "study/doctor/diagnosis.h"

namespace infold::cli {

namespace {

struct DoctorArguments {
  std::string system;
  std::string log;
  std::vector<std::string> sets;
  EnvironmentArguments env;
  bool in_place = false;
  bool json = false;
  PageArguments page;
};

sim::Result<formats::Measurements> read_log(const std::string& file) {
  auto text = formats::read_file(file);
  if (!text) return sim::fail_as(std::move(text));
  return formats::read_nccl_tests(text->text, file);
}

int doctor(const DoctorArguments& args) {
  const auto measurements = read_log(args.log);
  if (!measurements) return failure(measurements.error());
  const auto environment = read_environment(args.env, args.system);
  if (!environment) return failure(environment.error());
  std::vector<std::string> sets = environment->sets;
  sets.insert(sets.end(), args.sets.begin(), args.sets.end());
  const auto system = load_one_system(args.system, sets);
  if (!system) return failure(system.error());
  auto log = curves_of(*measurements, args.log, **system, args.in_place);
  if (!log) return failure(log.error());
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  page.add(**system);
  Progress progress;
  auto diagnosis = study::diagnose(
      *system, log->curves,
      [&](const std::string& what, double share) {
        progress.show(what, share);
        return !interrupted();
      },
      args.env.typed.empty() ? study::AllowedChoice{} : environment->allowed());
  progress.clear();
  if (!diagnosis) return failure(diagnosis.error());
  const report::DoctorReport report{.system = (*system)->name,
                                    .log = printable(args.log),
                                    .notes = std::move(log->notes),
                                    .diagnosis = *std::move(diagnosis)};
  print(args.json ? report::doctor_json(report) : report::doctor_text(report));
  return page.wanted() ? page.write(report::doctor_json(report)) : kDone;
}

}  // namespace

void add_doctor(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<DoctorArguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("doctor",
                         "compare a log of nccl-tests with what the machine should give, and say why "
                         "it gives less");
  command->add_option("--system", args->system, "preset or file, e.g. the topo.xml of NCCL_TOPO_DUMP_FILE")
      ->required();
  command->add_option("--log", args->log, "what nccl-tests printed, of one node; also packed (.gz)")
      ->required();
  command
      ->add_option("--set", args->sets,
                   "change a parameter, e.g. --set coll.channels=16 (see 'infold describe')")
      ->allow_extra_args(false);
  add_environment_argument(*command, args->env);
  command->add_flag("--in-place", args->in_place, "compare the times in place (default: out of place)");
  command->add_flag("--json", args->json, "print JSON");
  add_page_argument(*command, args->page);
  command->footer("Example:\n  infold doctor --system topo.xml --log all_reduce.txt --report doctor.html");
  command->callback([args, &exit] { exit = doctor(*args); });
}

}  // namespace infold::cli
