// A model as an indented table and as JSON.
#include "report/model_report.h"
#include "report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace infold::report {

namespace {

std::string grouped(std::int64_t n) {
  const std::string digits = fmt::format("{}", n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string_view operation_name(const train::Operation& op) {
  if (const auto* join = op.join()) return join->kind == train::Branches::Join::kAdd ? "add" : "multiply";
  return train::name_of(std::get<train::Layer>(op.what));
}

/// The numbers that a layer was given, in the words of the file: "filters 64, size 7, stride 2".
struct Settings {
  std::string text;
  void field(std::string_view name, int& value, const sim::Range<int>& /*range*/,
             std::string_view /*meaning*/) {
    if (value > 0) add(fmt::format("{} {}", name, value));
  }
  void field(std::string_view name, bool& value, std::string_view /*meaning*/) {
    if (value) add(std::string(name));
  }

 private:
  void add(const std::string& word) {
    if (!text.empty()) text += ", ";
    text += word;
  }
};

std::string settings(const train::Operation& op) {
  const auto* layer = std::get_if<train::Layer>(&op.what);
  if (layer == nullptr) return {};
  Settings s;
  train::Layer copy = *layer;  // a copy, because visit() hands out mutable references
  std::visit([&](auto& l) { l.visit(s); }, copy);
  return s.text;
}

/// The parameters that an operation is the first to use; a tied parameter counts where it was declared.
std::vector<std::int64_t> own_parameters(const train::Graph& graph) {
  std::vector<bool> seen(graph.parameters.size());
  std::vector<std::int64_t> out;
  for (const train::Operation& op : graph.operations) {
    std::int64_t sum = 0;
    for (const train::ParameterId p : op.parameters) {
      const auto i = static_cast<std::size_t>(p);
      if (!seen[i]) sum += graph.parameters[i].elements();
      seen[i] = true;
    }
    out.push_back(sum);
  }
  return out;
}
}  // namespace

std::string model_text(const train::Model& model, const train::Graph& graph, const ModelMemory& memory) {
  std::string text = fmt::format("model {}: {}\n\n", model.name, model.summary);
  text += fmt::format("  {} parameters in {} tensors, {:.4g} GFLOP forward per sample of {}\n",
                      grouped(graph.parameter_count()), graph.parameters.size(), graph.forward_flops() * 1e-9,
                      to_string(graph.values.front().shape));
  if (graph.active_parameter_count() != graph.parameter_count())
    text += fmt::format("  {} parameters are active for a token\n", grouped(graph.active_parameter_count()));
  const train::MemoryNeed& need = memory.need;
  const auto gb = [](sim::Bytes n) { return static_cast<double>(n.count()) * 1e-9; };
  text += fmt::format("  a step of batch {} ({}, {}) needs {:.3g} GB: weights {:.3g}, gradients {:.3g}, ",
                      memory.batch, memory.dtype, memory.optimizer, gb(need.total()), gb(need.weights),
                      gb(need.gradients));
  text += fmt::format("optimizer {:.3g}, activations {:.3g}\n\n", gb(need.optimizer), gb(need.passing));
  const auto parameters = own_parameters(graph);
  text += fmt::format("  {:<34} {:<36} {:<20} {:>14} {:>9}\n", "layer", "", "gives", "parameters", "MFLOP");
  for (const train::Line& line : graph.lines) {
    const std::string indent(static_cast<std::size_t>(line.depth) * 2, ' ');
    if (line.operation < 0) {
      text += fmt::format("  {}{}{}\n", indent, line.heading,
                          line.times > 1 ? fmt::format(" {} times", line.times) : std::string());
      continue;
    }
    const auto i = static_cast<std::size_t>(line.operation);
    const train::Operation& op = graph.operations[i];
    text += fmt::format("  {:<34} {:<36} {:<20} {:>14} {:>9.4g}\n", indent + std::string(operation_name(op)),
                        settings(op), to_string(graph.shape(op.output)),
                        parameters[i] == 0 ? "" : grouped(parameters[i]), op.forward_flops * 1e-6);
  }
  if (!model.sources.empty()) text += "\nsources:\n";
  for (const std::string& s : model.sources) text += fmt::format("  - {}\n", s);
  return text;
}

std::string model_json(const train::Model& model, const train::Graph& graph, const ModelMemory& memory) {
  const auto parameters = own_parameters(graph);
  Json operations = Json::array();
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    const train::Operation& op = graph.operations[i];
    operations.push_back({{"layer", operation_name(op)},
                          {"settings", settings(op)},
                          {"gives", to_string(graph.shape(op.output))},
                          {"parameters", parameters[i]},
                          {"forward_flop", op.forward_flops}});
  }
  return Json{{"schema", 1},
              {"command", "describe"},
              {"kind", "model"},
              {"name", model.name},
              {"about", model.summary},
              {"sources", model.sources},
              {"input", to_string(graph.values.front().shape)},
              {"parameter_count", graph.parameter_count()},
              {"active_parameter_count", graph.active_parameter_count()},
              {"gradient_tensors", graph.parameters.size()},
              {"forward_flop_per_sample", graph.forward_flops()},
              {"memory",
               {{"batch", memory.batch},
                {"dtype", memory.dtype},
                {"optimizer", memory.optimizer},
                {"weights_bytes", memory.need.weights.count()},
                {"gradients_bytes", memory.need.gradients.count()},
                {"optimizer_bytes", memory.need.optimizer.count()},
                {"activations_bytes", memory.need.passing.count()}}},
              {"layers", operations}}
             .dump(1) +
         "\n";
}

}  // namespace infold::report
