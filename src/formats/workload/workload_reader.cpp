// From a tree to a graph, and its checks with the places of operations.
#include "formats/workload/workload_reader.h"

#include <algorithm>

#include "formats/text/json_tree.h"
#include "formats/workload/workload_file.h"
#include "work/check.h"

namespace infold::formats {

namespace {

constexpr JsonLimits kWorkloadJson{.depth = 16, .values = 20'000'000};
constexpr config::YamlLimits kWorkloadYaml{.children = 200'000, .nodes = 2'000'000, .brackets = 1'000'000};

work::Computation computation(std::size_t kind) {
  switch (kind) {
    case 0:
      return work::MatMul{};
    case 1:
      return work::Convolve{};
    case 2:
      return work::Attend{};
    default:
      return work::Streaming{};
  }
}

template <class T>
void fill_as(WorkloadWalkIn& walker, work::Operation& op) {
  T what{};
  walk(walker, what);
  op.what = std::move(what);
}

using FillKind = void (*)(WorkloadWalkIn&, work::Operation&);
constexpr std::array<FillKind, 7> kFillKinds = {
    fill_as<work::Copy>,   fill_as<work::Collective>, fill_as<work::Transfer>, fill_as<work::Delay>,
    fill_as<work::Marker>, fill_as<work::Timed>,      fill_as<work::Gather>};

void fill_operation(const config::YamlNode& node, work::Operation& op, WorkloadFault& fault) {
  WorkloadWalkIn walker(node, "operation", fault);
  if (fault) return;
  fill_what(walker, node, op, fault);
  if (fault) return;
  walk_common(walker, op);
  walker.finish();
}

sim::Failure fault_at(const std::string& file, const WorkloadFault& fault) {
  return sim::fail(config::at(file, *fault.at, fault.why));
}

}  // namespace

void fill_what(WorkloadWalkIn& walker, const config::YamlNode& node, work::Operation& op,
               WorkloadFault& fault) {
  std::string kind;
  walker.item("do", kind);
  if (fault) return;
  const auto* found = std::ranges::find(kOperationKinds, kind);
  if (found == kOperationKinds.end()) {
    const std::vector<std::string_view> known(kOperationKinds.begin(), kOperationKinds.end());
    return fault.set(node.at, fmt::format("do: {} is not one of {}{}", config::quote(kind),
                                          fmt::join(known, ", "), config::did_you_mean(kind, known)));
  }
  constexpr std::size_t kKernels = std::variant_size_v<work::Computation>;
  const auto index = static_cast<std::size_t>(found - kOperationKinds.begin());
  if (index >= kKernels) return kFillKinds[index - kKernels](walker, op);
  work::Kernel kernel{.what = computation(index)};
  walker.field("precision", kernel.precision);
  walker.field("batch", kernel.batch, 1);
  std::visit([&](auto& what) { walk(walker, what); }, kernel.what);
  op.what = std::move(kernel);
}

sim::Result<study::Workload> read_workload(std::string_view text, const std::string& file) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool json = start != std::string_view::npos && text[start] == '{';
  auto tree = json ? parse_json(text, file, kWorkloadJson) : config::parse_yaml(text, file, kWorkloadYaml);
  if (!tree) return sim::fail_as(std::move(tree));
  WorkloadFault fault;
  study::Workload out;
  WorkloadWalkIn walker(*tree, "workload", fault);
  if (fault) return fault_at(file, fault);
  std::string kind;
  walker.item("kind", kind);
  if (!fault && kind != "workload")
    fault.set(tree->at, fmt::format("kind: {} is not 'workload'", config::quote(kind)));
  walker.field("name", out.name);
  walker.field("type", out.type);
  walker.field("sources", out.sources);
  if (const config::YamlNode* node = walker.take("measured")) {
    out.measured.emplace();
    fill_value(*node, "measured", *out.measured, fault);
  }
  work::Graph& graph = out.graph;
  walker.field("tensors", graph.tensors);
  walker.field("buffers", graph.buffers);
  walker.field("communicators", graph.communicators);
  const config::YamlNode* operations = walker.take("operations");
  if (operations == nullptr || operations->kind != config::YamlNode::Kind::kList) {
    fault.set(tree->at, "'operations' is missing, or no list");
  } else if (operations->children.size() > kMostOperations) {
    fault.set(operations->at, fmt::format("more than {} operations", kMostOperations));
  } else if (!fault) {
    graph.operations.resize(operations->children.size());
    for (std::size_t i = 0; i < graph.operations.size() && !fault; ++i)
      fill_operation(operations->children[i], graph.operations[i], fault);
  }
  walker.item("scripts", graph.scripts);
  walker.item("script_of", graph.script_of);
  walker.finish();
  if (fault) return fault_at(file, fault);
  if (const auto flaw = find_workload_flaw(graph)) {
    const config::Position at =
        flaw->op < 0 ? config::Position{} : operations->children[static_cast<std::size_t>(flaw->op)].at;
    return sim::fail(config::at(file, at, flaw->why));
  }
  if (auto checked = work::check(graph); !checked) return sim::fail(error_of_file(checked.error(), file));
  return out;
}

sim::Error error_of_file(sim::Error error, const std::string& file) {
  constexpr std::size_t kMostShown = 8;
  const char* joint = ": ";
  for (std::size_t i = 0; i < error.details.size() && i < kMostShown; ++i) {
    error.message += joint + config::shown(error.details[i], 160);
    joint = "; ";
  }
  if (error.details.size() > kMostShown)
    error.message += fmt::format("; and {} more", error.details.size() - kMostShown);
  error.details.clear();
  error.kind = sim::Error::Kind::kInput;
  if (error.place.file.empty()) error.place.file = file;
  return error;
}

}  // namespace infold::formats
