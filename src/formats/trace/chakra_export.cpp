// Nodes in an order in which they can run, with what other simulators read of them.
#include <fmt/format.h>

#include <algorithm>

#include "formats/trace/chakra_own.h"
#include "formats/workload/workload_writer.h"
#include "work/check.h"
#include "work/communications.h"

namespace infold::formats {

namespace {

// Collective types of the format.
std::int64_t comm_type_of(coll::Collective what) {
  switch (what) {
    case coll::Collective::kReduce:
      return 1;
    case coll::Collective::kAllGather:
      return 2;
    case coll::Collective::kBroadcast:
      return 5;
    case coll::Collective::kAllToAll:
    case coll::Collective::kSendRecv:
      return 6;
    case coll::Collective::kReduceScatter:
      return 7;
    case coll::Collective::kBarrier:
      return 9;
    default:
      return 0;
  }
}

std::int64_t bytes_touched(const work::Graph& graph, const work::Computation& what) {
  std::int64_t sum = 0;
  const work::Touched t = work::touched(what);
  for (const auto* list : {&t.reads, &t.writes}) {
    for (const int id : *list) sum += graph.tensors[static_cast<std::size_t>(id)].bytes();
  }
  return sum;
}

/// The operations of a kernel, about where it is no product: one for each number it touches.
std::int64_t operations_of(const work::Graph& graph, const work::Kernel& k) {
  if (const auto* m = std::get_if<work::MatMul>(&k.what))
    return static_cast<std::int64_t>(work::flops_of(graph.tensors, *m));
  if (const auto* a = std::get_if<work::Attend>(&k.what)) {
    const double pairs =
        static_cast<double>(a->sequence) * static_cast<double>(a->keys > 0 ? a->keys : a->sequence);
    return static_cast<std::int64_t>((a->backward ? 10.0 : 4.0) *
                                     static_cast<double>(k.batch * a->heads * a->head_size) * pairs *
                                     (a->causal ? 0.5 : 1.0));
  }
  if (const auto* c = std::get_if<work::Convolve>(&k.what)) {
    const std::int64_t rows = (c->height + 2 * c->pad - c->size) / c->stride + 1;
    const std::int64_t columns = (c->width + 2 * c->pad - c->size) / c->stride + 1;
    const auto out = static_cast<double>(rows) * static_cast<double>(columns);
    return static_cast<std::int64_t>(2.0 * out * static_cast<double>(k.batch * c->filters * c->channels) *
                                     static_cast<double>(c->size * c->size));
  }
  return bytes_touched(graph, k.what) / 2;
}

std::uint64_t micros(sim::Time time) {
  constexpr std::int64_t kMicro = 1'000'000;
  return static_cast<std::uint64_t>((time.count_ps() + kMicro - 1) / kMicro);
}

ChakraAttribute number(std::string name, std::int64_t value) {
  return {.name = std::move(name), .value = value};
}

}  // namespace

sim::Result<ChakraExport> ChakraExport::make(const study::Workload& workload) {
  for (work::OpId op = 0; op < static_cast<work::OpId>(workload.graph.operations.size()); ++op) {
    if (std::holds_alternative<work::Gather>(workload.graph[op].what)) {
      return sim::fail(fmt::format("{}: what is decided while the step runs (horovod) has no node in Chakra",
                                   work::label(workload.graph, op)));
    }
  }
  auto order = work::order_of(workload.graph);
  if (!order) return sim::fail_as(std::move(order));
  ChakraExport made(workload);
  made.order_.resize(static_cast<std::size_t>(workload.graph.ranks()));
  for (const work::Turn& t : *order) made.order_[static_cast<std::size_t>(t.rank)].push_back(t.op);
  return made;
}

ChakraNode ChakraExport::node_of(int rank, int op, int stream, int position) const {
  const work::Graph& graph = workload_->graph;
  const work::Operation& o = graph[op];
  ChakraNode node{.offset = 0,
                  .id = static_cast<std::uint64_t>(op),
                  .name = work::label(graph, op),
                  .type = ChakraType::kCompute,
                  .control = {},
                  .data = {},
                  .start_us = 0,
                  .duration_us = 0,
                  .inputs = {},
                  .attributes = {}};
  for (const work::OpId before : o.after) node.data.push_back(static_cast<std::uint64_t>(before));
  const work::Stream& own = graph.script(rank).streams[static_cast<std::size_t>(stream)];
  if (position > 0 && own.kind != work::Stream::Kind::kBeside)
    node.control.push_back(static_cast<std::uint64_t>(own.ops[static_cast<std::size_t>(position) - 1]));
  const bool host = std::holds_alternative<work::Delay>(o.what) || work::is_marker(o);
  node.attributes.push_back(number("is_cpu_op", host ? 1 : 0));
  const work::CommunicatorId c = work::communicator_of(o);
  if (c >= 0) {
    const std::vector<int>& members = work::group_of(graph, c, rank);
    const sim::Bytes bytes = graph.buffers[static_cast<std::size_t>(work::buffer_of(o))].bytes;
    if (const auto* t = std::get_if<work::Transfer>(&o.what)) {
      const int from = members[static_cast<std::size_t>(t->from)];
      const int to = members[static_cast<std::size_t>(1 - t->from)];
      node.type = rank == from ? ChakraType::kSend : ChakraType::kReceive;
      node.attributes.push_back(number("comm_size", bytes.count()));
      node.attributes.push_back(number("comm_src", from));
      node.attributes.push_back(number("comm_dst", to));
      node.attributes.push_back(number("comm_tag", c));
    } else {
      const auto& what = std::get<work::Collective>(o.what);
      node.type = ChakraType::kCollective;
      // Sizes are those of what a rank gives.
      const bool share = what.what == coll::Collective::kAllGather;
      node.attributes.push_back(number("comm_type", comm_type_of(what.what)));
      node.attributes.push_back(number(
          "comm_size", share ? bytes.count() / static_cast<std::int64_t>(members.size()) : bytes.count()));
      if (coll::has_root(what.what))
        node.attributes.push_back(number("comm_root", members[static_cast<std::size_t>(what.root)]));
      node.attributes.push_back(
          {.name = "pg_name",
           .value = fmt::format("{} of rank {}", graph.communicators[static_cast<std::size_t>(c)].name,
                                members.front())});
      node.attributes.push_back({.name = "pg_ranks", .value = fmt::format("[{}]", fmt::join(members, ", "))});
    }
  } else if (const auto* k = std::get_if<work::Kernel>(&o.what)) {
    node.attributes.push_back(number("num_ops", operations_of(graph, *k)));
    node.attributes.push_back(number("tensor_size", bytes_touched(graph, k->what)));
  } else if (const auto* t = std::get_if<work::Timed>(&o.what)) {
    node.duration_us = micros(t->time);
  } else if (const auto* d = std::get_if<work::Delay>(&o.what)) {
    node.duration_us = micros(d->time);
  } else if (const auto* copy = std::get_if<work::Copy>(&o.what)) {
    const std::int64_t bytes = graph.tensors[static_cast<std::size_t>(copy->tensor)].bytes();
    node.attributes.push_back(number("num_ops", bytes / 2));
    node.attributes.push_back(number("tensor_size", 2 * bytes));
  }
  WorkJson json = json_of_operation(o);
  json.erase("after");
  node.attributes.push_back({.name = "infold.operation", .value = json.dump()});
  node.attributes.push_back(number("infold.stream", stream));
  node.attributes.push_back(number("infold.position", position));
  return node;
}

std::string ChakraExport::file_of(int rank) const {
  const work::Graph& graph = workload_->graph;
  const work::Script& script = graph.script(rank);
  WorkJson common = {{"name", workload_->name},
                     {"type", sim::name_of(workload_->type)},
                     {"ranks", graph.ranks()},
                     {"operations", graph.operations.size()},
                     {"sources", workload_->sources}};
  if (workload_->measured) common["measured"] = WorkloadWalkOut::json_of(*workload_->measured);
  common["tensors"] = WorkloadWalkOut::json_of(graph.tensors);
  common["buffers"] = WorkloadWalkOut::json_of(graph.buffers);
  common["communicators"] = WorkloadWalkOut::json_of(graph.communicators);
  WorkJson streams = WorkJson::array();
  for (const work::Stream& s : script.streams) {
    const work::Stream empty{.name = s.name, .kind = s.kind, .communicator = s.communicator, .ops = {}};
    streams.push_back(WorkloadWalkOut::json_of(empty));
  }
  WorkJson idle = WorkJson::array();
  for (const work::OpId op : script.idle) idle.push_back({{"op", op}, {"is", json_of_operation(graph[op])}});
  const WorkJson header = {{"rank", rank},
                           {"script", graph.script_of[static_cast<std::size_t>(rank)]},
                           {"streams", std::move(streams)},
                           {"idle", std::move(idle)},
                           {"common", std::move(common)}};
  std::string bytes = chakra_bytes(
      ChakraMetadata{.version = "0.0.4",
                     .attributes = {{.name = "schema", .value = std::string("1.0.2-chakra.0.0.4")},
                                    {.name = std::string(kOwnHeader), .value = header.dump()}}});
  std::map<work::OpId, std::pair<int, int>> place;
  for (std::size_t s = 0; s < script.streams.size(); ++s) {
    for (std::size_t i = 0; i < script.streams[s].ops.size(); ++i)
      place[script.streams[s].ops[i]] = {static_cast<int>(s), static_cast<int>(i)};
  }
  for (const work::OpId op : order_[static_cast<std::size_t>(rank)]) {
    const auto [stream, position] = place.at(op);
    bytes += chakra_bytes(node_of(rank, op, stream, position));
  }
  return bytes;
}

}  // namespace infold::formats
