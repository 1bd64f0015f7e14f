// infold list: which systems, GPUs, models, algorithms and components there are.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>
#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "coll/algo/algorithms.h"
#include "coll/program/engine.h"
#include "coll/program/protocol.h"
#include "config/catalog.h"
#include "config/shipped_study.h"
#include "config/yaml/describe.h"
#include "config/yaml/suggest.h"
#include "report/describe_report.h"
#include "train/layers.h"

namespace infold::cli {

namespace {

constexpr std::array<std::string_view, 11> kLists = {"systems",    "gpus",        "models",    "layers",
                                                     "algorithms", "collectives", "protocols", "engines",
                                                     "studies",    "sweeps",      "components"};

template <sim::NamedEnum E>
std::vector<report::Entry> names_and_meanings() {
  std::vector<report::Entry> out;
  for (const auto& n : names_of(E{})) out.push_back({std::string(n.name), std::string(n.meaning)});
  return out;
}

std::vector<report::Entry> entries_of(std::string_view what) {
  std::vector<report::Entry> out;
  if (what == "systems") {
    for (auto& p : config::list_systems()) out.push_back({p.name, p.summary});
  } else if (what == "gpus") {
    for (auto& p : config::list_gpus()) out.push_back({p.name, p.summary});
  } else if (what == "models") {
    for (auto& p : config::list_models()) out.push_back({p.name, p.summary});
  } else if (what == "layers") {
    for (const auto& l : train::layer_names()) out.push_back({std::string(l.name), std::string(l.about)});
  } else if (what == "algorithms") {
    for (const auto& a : coll::algorithms())
      out.push_back({std::string(a.name), fmt::format("{} ({})", a.about, coll::offered_by(a))});
  } else if (what == "collectives") {
    return names_and_meanings<coll::Collective>();
  } else if (what == "protocols") {
    return names_and_meanings<coll::Protocol>();
  } else if (what == "engines") {
    return names_and_meanings<coll::Engine>();
  } else if (what == "studies" || what == "sweeps") {
    for (auto& s : config::list_shipped(what == "studies" ? "study" : "sweep"))
      out.push_back({s.name, s.summary});
  } else {
    for (auto& c : config::components()) out.push_back({c.name, c.about});
  }
  return out;
}

}  // namespace

void add_list(CLI::App& app, int& exit) {
  struct ListArguments {
    std::string what;
    bool json = false;
  };
  auto args = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand("list", fmt::format("what there is: {}", fmt::join(kLists, ", ")));
  command->add_option("what", args->what, fmt::format("{}", fmt::join(kLists, ", ")))->required();
  command->add_flag("--json", args->json, "print JSON");
  command->footer("Example:\n  infold list systems");
  command->callback([args, &exit] {
    if (std::find(kLists.begin(), kLists.end(), args->what) == kLists.end()) {
      exit = bad_input(fmt::format("there is no list of '{}'{}; there is {}", args->what,
                                   config::did_you_mean(args->what, kLists), fmt::join(kLists, ", ")));
      return;
    }
    const auto entries = entries_of(args->what);
    print(args->json ? report::list_json(args->what, entries) : report::list_text(entries));
  });
}

}  // namespace infold::cli
