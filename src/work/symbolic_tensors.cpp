// The last writer of each tensor must be before its reader.
#include "work/symbolic_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "work/communications.h"

namespace infold::work {

SymbolicTensors::SymbolicTensors(const Graph& graph, const StepRules& rules, const HappensBefore& before)
    : graph_(graph),
      before_(before),
      given_known_(rules.given.has_value()),
      partial_(rules.partial.begin(), rules.partial.end()),
      written_(graph.scripts.size()) {
  for (const auto& r : rules.results) results_[r.tensor] = r.script;
  if (given_known_) given_.insert(rules.given->begin(), rules.given->end());
  for (std::size_t script = 0; script < graph.scripts.size(); ++script) {
    for (const Stream& s : graph.scripts[script].streams) {
      for (const OpId op : s.ops) {
        const Operation& o = graph[op];
        if (const auto* k = std::get_if<Kernel>(&o.what)) {
          for (const TensorId id : touched(k->what).writes) written_[script].insert(id);
        } else if (communicator_of(o) >= 0 && !std::holds_alternative<Gather>(o.what)) {
          written_[script].insert(graph.buffers[static_cast<std::size_t>(buffer_of(o))].output);
        }
      }
    }
  }
}

bool SymbolicTensors::is_written(int rank, TensorId id) const {
  return written_[static_cast<std::size_t>(graph_.script_of[static_cast<std::size_t>(rank)])].contains(id);
}

std::string SymbolicTensors::read(const Turn& t, TensorId id, bool reduces_in_place) {
  if (!followed(id)) return {};
  Use& use = uses_[{t.rank, id}];
  if (!use.written) {
    // Parts of a tensor are written under its name.
    if (graph_.tensors[static_cast<std::size_t>(id)].role != TensorSpec::Role::kPassing) return {};
    const bool there = given_known_ ? given_.contains(id) : !is_written(t.rank, id);
    return there ? std::string() : fmt::format("reads tensor {} before it is written", id);
  }
  use.unread = false;
  use.readers.push_back(before_.node(t));
  const Operation& o = graph_[t.op];
  if (o.pass != use.pass && !results_.contains(id))
    return fmt::format("reads tensor {} of pass {} in pass {}", id, use.pass, o.pass);
  if (use.writer != before_.node(t) && !before_(use.writer, before_.node(t)))
    return fmt::format("reads tensor {} while it may still be written", id);
  if (reduces_in_place && use.brought) return fmt::format("reduces tensor {} once more", id);
  if (!reduces_in_place && partial_.contains(id) && !use.reduced)
    return fmt::format("reads tensor {}, which is a part of a sum", id);
  return {};
}

std::string SymbolicTensors::write(const Turn& t, TensorId id, bool keeps_sum) {
  const auto use = uses_.find({t.rank, id});
  if (results_.contains(id) && use != uses_.end() && use->second.written && !use->second.brought)
    return fmt::format("writes tensor {}, which was never reduced", id);
  return replace(t, id, keeps_sum);
}

std::string SymbolicTensors::replace(const Turn& t, TensorId id, bool keeps_sum) {
  if (!followed(id)) return {};
  Use& use = uses_[{t.rank, id}];
  const std::size_t here = before_.node(t);
  const auto earlier = [&](std::size_t other) { return other == here || before_(other, here); };
  std::string wrong;
  if (use.brought && use.unread && !results_.contains(id))
    wrong = fmt::format("writes tensor {}, which was received and never read", id);
  if ((use.written && !earlier(use.writer)) || !std::ranges::all_of(use.readers, earlier))
    wrong = fmt::format("writes tensor {} while others may still use it", id);
  use = {.writer = here,
         .readers = {},
         .pass = graph_[t.op].pass,
         .written = true,
         .unread = true,
         .reduced = keeps_sum && use.reduced};
  return wrong;
}

std::string SymbolicTensors::bring(const Turn& t, TensorId id) {
  std::string wrong = replace(t, id, false);
  if (!followed(id)) return wrong;
  Use& use = uses_[{t.rank, id}];
  use.brought = use.reduced = true;
  return wrong;
}

std::string SymbolicTensors::left_over() const {
  for (const auto& [where, use] : uses_) {
    if (use.brought && use.unread && !results_.contains(where.second))
      return fmt::format("rank {} receives tensor {}, and nothing reads it", where.first, where.second);
  }
  for (const auto& [id, script] : results_) {
    for (int r = 0; r < graph_.ranks(); ++r) {
      if (graph_.script_of[static_cast<std::size_t>(r)] != script) continue;
      const auto use = uses_.find({r, id});
      if (use == uses_.end() || !use->second.brought)
        return fmt::format("rank {} ends without tensor {} of all ranks", r, id);
    }
  }
  return {};
}

}  // namespace infold::work
