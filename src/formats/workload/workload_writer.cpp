// Lists of operations, streams and tensors have a line for each, so that a difference can be read.
#include "formats/workload/workload_writer.h"

#include <fmt/format.h>

#include "formats/workload/workload_file.h"

namespace infold::formats {

namespace {

const char* kind_of_kernel(const work::Kernel& k) {
  return kOperationKinds[k.what.index()];
}

std::string dumped(const WorkJson& json) {
  return json.dump(-1, ' ', false, WorkJson::error_handler_t::replace);
}

template <class T>
std::string lines_of(const std::vector<T>& all) {
  std::string text = "[";
  const char* comma = "\n  ";
  for (const T& one : all) {
    text += comma;
    if constexpr (std::is_same_v<T, work::Operation>) {
      text += dumped(json_of_operation(one));
    } else {
      text += dumped(WorkloadWalkOut::json_of(one));
    }
    comma = ",\n  ";
  }
  return text + "]";
}

}  // namespace

WorkJson json_of_what(const work::Operation& op) {
  WorkJson json = WorkJson::object();
  WorkloadWalkOut out(json);
  if (const auto* kernel = std::get_if<work::Kernel>(&op.what)) {
    json["do"] = kind_of_kernel(*kernel);
    out.field("precision", kernel->precision);
    out.field("batch", kernel->batch, 1);
    std::visit([&](const auto& what) { walk(out, const_cast<std::decay_t<decltype(what)>&>(what)); },
               kernel->what);
    return json;
  }
  // Behind the kinds of kernels come the other kinds, in the order of the variant.
  json["do"] = kOperationKinds[std::variant_size_v<work::Computation> - 1 + op.what.index()];
  std::visit(
      [&](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (!std::is_same_v<T, work::Kernel>) walk(out, const_cast<T&>(what));
      },
      op.what);
  return json;
}

WorkJson json_of_operation(const work::Operation& op) {
  WorkJson json = json_of_what(op);
  WorkloadWalkOut out(json);
  walk_common(out, const_cast<work::Operation&>(op));
  return json;
}

std::string workload_text(const study::Workload& w) {
  WorkJson head = {{"kind", "workload"}, {"name", w.name}, {"type", sim::name_of(w.type)}};
  std::string text = "{";
  for (const auto& [key, value] : head.items()) text += fmt::format("\"{}\":{},\n ", key, dumped(value));
  if (!w.sources.empty()) text += fmt::format("\"sources\":{},\n ", lines_of(w.sources));
  if (w.measured) text += fmt::format("\"measured\":{},\n ", dumped(WorkloadWalkOut::json_of(*w.measured)));
  const work::Graph& g = w.graph;
  if (!g.tensors.empty()) text += fmt::format("\"tensors\":{},\n ", lines_of(g.tensors));
  if (!g.buffers.empty()) text += fmt::format("\"buffers\":{},\n ", lines_of(g.buffers));
  if (!g.communicators.empty()) text += fmt::format("\"communicators\":{},\n ", lines_of(g.communicators));
  text += fmt::format("\"operations\":{},\n ", lines_of(g.operations));
  text += fmt::format("\"scripts\":{},\n ", lines_of(g.scripts));
  return text + fmt::format("\"script_of\":{}}}\n", dumped(g.script_of));
}

}  // namespace infold::formats
