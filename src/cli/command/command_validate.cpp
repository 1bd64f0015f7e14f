// infold validate: runs the commands behind the published figures and says how far off each is.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/child.h"
#include "cli/interrupt.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "config/validation_file.h"
#include "config/yaml/suggest.h"
#include "report/campaign/ladder_report.h"
#include "report/campaign/validation_report.h"
#include "study/ladder.h"
#include "study/validation_run.h"

namespace infold::cli {

namespace {

struct ValidateArguments {
  std::string file;
  std::vector<std::string> only;
  int jobs = 0;
  bool json = false;
  bool markdown = false;
  bool strict = false;
  bool sensitivity = false;
  bool ladder = false;
  PageArguments page;
};

/// Keeps the figures that were named; an id that no figure has may be a typing error.
sim::Status pick(const std::vector<std::string>& only, std::vector<study::ValidationRow>& rows) {
  auto kept = study::keep_only(only, rows);
  if (kept) return kept;
  std::vector<std::string_view> known;
  known.reserve(rows.size());
  for (const auto& row : rows) known.push_back(row.id);
  return sim::fail(kept.error().message + config::did_you_mean(kept.error().parameter, known));
}

std::string text_of(const ValidateArguments& args, const study::Validation& validation,
                    const study::ValidationResult& result) {
  const report::ValidationReport report{validation.rows, result.plain};
  if (args.sensitivity) {
    return args.json ? report::sensitivity_json(report, result.sensitivity)
                     : report::sensitivity_text(report, result.sensitivity);
  }
  return args.json       ? report::validation_json(report)
         : args.markdown ? report::validation_markdown(report, validation.constants)
                         : report::validation_text(report);
}

/// Compares levels of fidelity.
int climb(const ValidateArguments& args) {
  std::vector<study::LadderCase> cases;
  for (const study::LadderCase& c : study::ladder_cases()) {
    const auto named = [&](const std::string& id) { return c.id.starts_with(id); };
    if (args.only.empty() || std::ranges::any_of(args.only, named)) cases.push_back(c);
  }
  if (cases.empty()) {
    const std::vector<study::LadderCase> all = study::ladder_cases();
    std::vector<std::string_view> known;
    known.reserve(all.size());
    for (const study::LadderCase& c : all) known.push_back(c.id);
    return bad_input(fmt::format("no step has an id that begins with '{}'{}", args.only.front(),
                                 config::did_you_mean(args.only.front(), known)));
  }
  Progress progress;
  const auto rows = study::run(
      study::LadderJob{
          .cases = std::move(cases), .threads = args.jobs, .run = run_child, .read = report::number_at},
      [&](const std::string& command, double share) {
        progress.show(command, share);
        return !interrupted();
      });
  progress.clear();
  if (!rows) return failure(rows.error());
  print(args.json ? report::ladder_json(*rows) : report::ladder_text(*rows));
  const auto ran = [](const study::LadderRow& r) { return r.failed.empty(); };
  const bool good =
      args.strict ? std::ranges::all_of(*rows, &study::LadderRow::within) : std::ranges::all_of(*rows, ran);
  return good ? kDone : kFailed;
}

int validate(const ValidateArguments& args) {
  if (args.ladder) return climb(args);
  auto loaded = args.file.empty() ? config::built_in_validation() : config::load_validation(args.file);
  if (!loaded) return failure(loaded.error());
  study::Validation& validation = *loaded;
  if (const auto e = pick(args.only, validation.rows); !e) return failure(e.error());
  if (args.sensitivity && validation.constants.empty())
    return bad_input("the file names no constants to change");
  if (const auto e = study::check_commands(validation.rows, check_command); !e) return failure(e.error());
  PageWriter page(args.page);
  if (const int exit = page.open(); exit != kDone) return exit;
  Progress progress;
  const auto result = study::run(study::ValidationJob{.validation = validation,
                                                      .sensitivity = args.sensitivity,
                                                      .threads = args.jobs,
                                                      .run = run_child,
                                                      .read = report::number_at},
                                 [&](const std::string& command, double share) {
                                   progress.show(command, share);
                                   return !interrupted();
                                 });
  progress.clear();
  if (!result) return failure(result.error());
  for (const std::string& why : result->failed) bad_input(why);
  print(text_of(args, validation, *result));
  if (page.wanted()) {
    const report::ValidationReport report{validation.rows, result->plain};
    if (const int exit = page.write(report::validation_json(report)); exit != kDone) return exit;
  }
  const auto ran = [](const auto& c) { return c.has_value(); };
  const auto within = [](const auto& c) { return c && c->within; };
  const bool good =
      args.strict ? std::ranges::all_of(result->plain, within) : std::ranges::all_of(result->plain, ran);
  return good ? kDone : kFailed;
}

}  // namespace

void add_validate(CLI::App& app, const std::string& typed, int& exit) {
  auto args = std::make_shared<ValidateArguments>();
  args->page.typed = typed;
  CLI::App* command =
      app.add_subcommand("validate", "compare with published measurements, each with its source");
  auto* file = command->add_option("file", args->file,
                                   "figures of your own (default: those that infold is judged by)");
  command->add_option("--only", args->only, "figures whose id is this or begins with it");
  command->add_option("-j,--jobs", args->jobs, "commands at a time (default: one per core)")
      ->check(CLI::Range(1, 256));
  auto* json = command->add_flag("--json", args->json, "print JSON");
  auto* markdown =
      command->add_flag("--markdown", args->markdown, "print the page docs/validation.md")->excludes(json);
  auto* sensitivity = command->add_flag(
      "--sensitivity", args->sensitivity,
      "change each calibrated constant by -10 % and +10 %, or a policy to another, and show "
      "which figures move");
  sensitivity->excludes(markdown);
  auto* page = add_page_argument(*command, args->page)->excludes(sensitivity);
  command
      ->add_flag("--ladder", args->ladder,
                 "compare training steps at --fidelity composed with the same in bursts on every GPU")
      ->excludes(markdown)
      ->excludes(sensitivity)
      ->excludes(page)
      ->excludes(file);
  command->add_flag("--strict", args->strict, "exit code 1 unless every figure is within what is accepted");
  command->footer(
      "Examples:\n  infold validate --only h100-ring\n  infold validate my-machine.yaml --strict");
  command->callback([args, &exit] { exit = validate(*args); });
}

}  // namespace infold::cli
