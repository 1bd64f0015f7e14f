// Operations are taken over one by one; values and parameters get numbers of the part.
#include "train/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace infold::train {

namespace {

/// Finds the first operation of each part, and the end of the last.
std::vector<std::size_t> borders(const Graph& model, int parts) {
  std::vector<std::size_t> first = {0};
  for (int part = 1; part < parts; ++part) {
    const int repetition = static_cast<int>(std::int64_t{model.repetitions} * part / parts);
    const auto begins = [&](const Operation& op) { return op.repetition == repetition; };
    first.push_back(
        static_cast<std::size_t>(std::ranges::find_if(model.operations, begins) - model.operations.begin()));
  }
  first.push_back(model.operations.size());
  return first;
}

/// Finds the values that are made before an operation, or are the model's input, and are used from there on.
std::set<ValueId> crossing(const Graph& model, std::size_t border) {
  std::set<ValueId> made = {0};
  for (std::size_t i = 0; i < border; ++i) made.insert(model.operations[i].output);
  std::set<ValueId> crossing;
  for (std::size_t i = border; i < model.operations.size(); ++i) {
    for (const ValueId v : model.operations[i].inputs) {
      if (made.contains(v)) crossing.insert(v);
    }
  }
  return crossing;
}

/// Makes a graph of the operations from `first` to `end`.
class PartBuilder {
 public:
  explicit PartBuilder(const Graph& model) : model_(model) {}

  ModelPart build(std::size_t first, std::size_t end, ValueId received, ValueId sent) {
    if (received >= 0) part_.graph.received = value(received);
    int before = -1;  // the repetition of the operation before
    for (std::size_t i = first; i < end; ++i) {
      Operation op = model_.operations[i];
      for (ValueId& v : op.inputs) v = value(v);
      op.output = value(op.output);
      for (ParameterId& p : op.parameters) p = parameter(p);
      // Repetitions are counted anew.
      if (op.repetition >= 0 && op.repetition != before) ++part_.graph.repetitions;
      before = op.repetition;
      if (op.repetition >= 0) op.repetition = part_.graph.repetitions - 1;
      part_.graph.operations.push_back(std::move(op));
    }
    if (sent >= 0) part_.graph.sent = value(sent);
    return std::move(part_);
  }

 private:
  ValueId value(ValueId v) {
    const auto [place, is_new] = values_.try_emplace(v, static_cast<ValueId>(part_.graph.values.size()));
    if (is_new) part_.graph.values.push_back(model_.values[static_cast<std::size_t>(v)]);
    return place->second;
  }
  ParameterId parameter(ParameterId p) {
    const auto [place, is_new] =
        parameters_.try_emplace(p, static_cast<ParameterId>(part_.parameters.size()));
    if (is_new) {
      part_.parameters.push_back(p);
      part_.graph.parameters.push_back(model_.parameters[static_cast<std::size_t>(p)]);
    }
    return place->second;
  }

  const Graph& model_;
  ModelPart part_;
  std::map<ValueId, ValueId> values_;
  std::map<ParameterId, ParameterId> parameters_;
};

}  // namespace

sim::Result<std::vector<ModelPart>> cut_into_parts(const Graph& model, int parts) {
  if (parts > 1 && model.repetitions < parts)
    return sim::fail(fmt::format(
        "a model is cut between the repetitions of its 'repeat': it has {}, which are not enough for "
        "{} parts",
        model.repetitions, parts));
  const std::vector<std::size_t> at = borders(model, parts);
  std::vector<ValueId> between = {-1};  // what goes into each part
  for (int part = 1; part < parts; ++part) {
    const std::set<ValueId> values = crossing(model, at[static_cast<std::size_t>(part)]);
    if (values.size() != 1 || !model.values[static_cast<std::size_t>(*values.begin())].needs_gradient)
      return sim::fail(
          fmt::format("a model is cut where one value goes on; between repetitions {} and {} there are {}",
                      static_cast<int>(std::int64_t{model.repetitions} * part / parts),
                      static_cast<int>(std::int64_t{model.repetitions} * part / parts) + 1, values.size()));
    between.push_back(*values.begin());
  }
  between.push_back(-1);
  std::vector<ModelPart> all;
  for (std::size_t part = 0; part + 1 < at.size(); ++part)
    all.push_back(PartBuilder(model).build(at[part], at[part + 1], between[part], between[part + 1]));
  return all;
}

std::vector<ParameterId> shared_parameters(const std::vector<ModelPart>& parts) {
  std::map<ParameterId, int> count;
  for (const ModelPart& part : parts) {
    for (const ParameterId p : part.parameters) ++count[p];
  }
  std::vector<ParameterId> shared;
  for (const auto& [parameter, uses] : count) {
    if (uses > 1) shared.push_back(parameter);
  }
  return shared;
}

}  // namespace infold::train
