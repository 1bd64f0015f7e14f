// infold describe: the parameters of a system, a GPU or a component, from where they are declared, and the
// layers of a model.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/options/systems.h"
#include "cli/outcome.h"
#include "config/catalog.h"
#include "config/model_dump.h"
#include "config/yaml/describe.h"
#include "config/yaml/dump.h"
#include "config/yaml/suggest.h"
#include "formats/catalog.h"
#include "inc/unit_area.h"
#include "report/describe_report.h"
#include "report/model_report.h"
#include "study/check.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/plan.h"

namespace infold::cli {

namespace {

constexpr std::array<std::string_view, 4> kKinds = {"system", "gpu", "model", "component"};

struct DescribeArguments {
  std::string kind;
  std::string name;
  int nodes = 0;
  bool json = false;
  bool yaml = false;
};

int show(const DescribeArguments& args, const report::Description& d, const std::string& yaml) {
  if (args.yaml) {
    print(yaml);
  } else {
    print(args.json ? report::description_json(d) : report::description_text(d));
  }
  return kDone;
}

int describe_system(const DescribeArguments& args) {
  study::PreparingCheck validate([] { return !interrupted(); });
  const auto loaded = formats::load_system(args.name, with_nodes({}, args.nodes), std::ref(validate));
  if (interrupted()) return kInterrupted;
  if (!loaded) return failure(loaded.error());
  const study::SystemSpec& s = *loaded;
  return show(args, {"system", s.name, s.summary, s.sources, {}, config::parameters(s)}, config::to_yaml(s));
}

int describe_gpu(const DescribeArguments& args) {
  const auto loaded = config::load_gpu(args.name);
  if (!loaded) return failure(loaded.error());
  const gpu::GpuSpec& g = *loaded;
  return show(args, {"gpu", g.name, g.summary, g.sources, {}, config::parameters(g)}, config::to_yaml(g));
}

int describe_model(const DescribeArguments& args) {
  const auto loaded = formats::load_model(args.name);
  if (!loaded) return failure(loaded.error());
  const train::Model& model = *loaded;
  if (args.yaml) {
    print(config::to_yaml(model));
    return kDone;
  }
  const train::Graph graph = *train::build_graph(model);
  const train::Recipe example;
  const report::ModelMemory memory{example.batch, std::string(sim::name_of(example.numbers)),
                                   std::string(sim::name_of(example.optimizer)),
                                   train::memory_need(train::make_plan(graph, example))};
  print(args.json ? report::model_json(model, graph, memory) : report::model_text(model, graph, memory));
  return kDone;
}

/// The size of the hardware by that of its table, the other parameters being those that are shown.
void add_areas(report::Description& d) {
  constexpr int kPorts = 16;
  inc::IncSpec spec;
  d.areas_of = fmt::format(
      "one port of a switch with {} ports in hardware: thousands of gate equivalents by part, and memory "
      "(docs/rtl.md)",
      kPorts);
  for (std::int64_t bytes = 256; bytes <= 64 * 1024; bytes *= 2) {
    spec.table_bytes = sim::Bytes{bytes};
    d.areas.emplace_back(spec.table_bytes, inc::area_of(inc::shape_of(spec, kPorts)));
  }
}

int describe_component(const DescribeArguments& args) {
  const auto found = config::find_component(args.name);
  if (!found) {
    return bad_input(fmt::format("there is no component '{}'{}; see 'infold list components'", args.name,
                                 config::suggestion_for_component(args.name)));
  }
  if (args.yaml) return bad_input("--yaml goes with a system, a gpu or a model");
  report::Description d{"component", found->name, found->about, {}, found->components, found->parameters};
  if (found->also == inc::IncSpec::kAlsoCalled) add_areas(d);
  return show(args, d, {});
}

int describe(const DescribeArguments& args) {
  if (args.nodes > 0 && args.kind != "system") return bad_input("--nodes has no effect but on a system");
  if (args.yaml && args.json) return bad_input("--yaml and --json exclude each other");
  if (args.kind == "system") return describe_system(args);
  if (args.kind == "gpu") return describe_gpu(args);
  if (args.kind == "model") return describe_model(args);
  if (args.kind == "component") return describe_component(args);
  return bad_input(
      fmt::format("nothing is known of a '{}'{}; describe a system, a gpu, a model or a component", args.kind,
                  config::did_you_mean(args.kind, kKinds)));
}

}  // namespace

void add_describe(CLI::App& app, int& exit) {
  auto args = std::make_shared<DescribeArguments>();
  CLI::App* command =
      app.add_subcommand("describe", "parameters of a system, a gpu or a component; layers of a model");
  command->add_option("kind", args->kind, "system, gpu, model or component")->required();
  command->add_option("name", args->name, "a preset, a file, or a component's name")->required();
  add_nodes_argument(*command, args->nodes);
  command->add_flag("--json", args->json, "print JSON");
  command->add_flag("--yaml", args->yaml, "print the whole system, GPU or model as YAML that can be edited");
  command->footer(
      "Example:\n  infold describe system dgx-a100\n  infold describe component link\n"
      "  infold describe model resnet50");
  command->callback([args, &exit] { exit = describe(*args); });
}

}  // namespace infold::cli
