// The files of a workload of ours: the same operation of several ranks is one again.
#include "formats/trace/chakra_own.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/text/json_tree.h"
#include "formats/workload/workload_file.h"
#include "formats/workload/workload_reader.h"
#include "work/check.h"

namespace infold::formats {

namespace {

constexpr JsonLimits kOwnJson{.depth = 16, .values = 2'000'000};

sim::Failure in_file(const std::string& file, std::string why) {
  return sim::fail(config::at(file, {}, std::move(why)));
}

}  // namespace

sim::Status ChakraOwnReader::begin(const std::string& file, const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return in_file(file, fmt::format("its attribute {} is damaged: {}", kOwnHeader, why));
  };
  auto tree = parse_json(text, "header", kOwnJson);
  if (!tree) return wrong(tree.error().message);
  WorkloadFault fault;
  WorkloadWalkIn header(*tree, "header", fault);
  int rank = 0;
  OwnRank own{.file = file, .script = 0, .streams = {}, .idle = {}};
  std::vector<work::Stream> streams;
  header.item("rank", rank);
  header.item("script", own.script);
  header.item("streams", streams);
  const config::YamlNode* idle = header.take("idle");
  const config::YamlNode* common = header.take("common");
  if (!fault && (common == nullptr || idle == nullptr)) fault.set(tree->at, "a part is missing");
  if (fault) return wrong(fault.why);
  for (work::Stream& s : streams) own.streams.push_back({std::move(s), {}});
  const std::size_t at = text.find("\"common\":");
  const std::string shared = at == std::string::npos ? text : text.substr(at);
  if (!begun_) {
    begun_ = true;
    common_ = shared;
    first_file_ = file;
    WorkloadWalkIn in(*common, "common", fault);
    int ranks = 0;
    int operations = 0;
    in.item("name", workload_.name);
    in.item("type", workload_.type);
    in.item("ranks", ranks);
    in.item("operations", operations);
    in.field("sources", workload_.sources);
    if (const config::YamlNode* measured = in.take("measured")) {
      workload_.measured.emplace();
      fill_value(*measured, "measured", *workload_.measured, fault);
    }
    work::Graph& graph = workload_.graph;
    in.item("tensors", graph.tensors);
    in.item("buffers", graph.buffers);
    in.item("communicators", graph.communicators);
    if (!fault && (ranks < 1 || ranks > kMostTraceRanks || operations < 0 ||
                   static_cast<std::size_t>(operations) > kMostOperations))
      fault.set(common->at, "a number is out of range");
    if (fault) return wrong(fault.why);
    graph.script_of.assign(static_cast<std::size_t>(ranks), 0);
    graph.operations.resize(static_cast<std::size_t>(operations));
    for (work::Operation& op : graph.operations) op.what = work::Marker{};
  } else if (shared != common_) {
    return in_file(file, fmt::format("it is not of the same workload as {}", first_file_));
  }
  if (rank < 0 || rank >= workload_.graph.ranks()) return wrong(fmt::format("there is no rank {}", rank));
  const auto [place, is_new] = ranks_.try_emplace(rank, std::move(own));
  if (!is_new) return in_file(file, fmt::format("it is of rank {}, as {} is", rank, place->second.file));
  rank_ = &place->second;
  for (const config::YamlNode& one : idle->children) {
    const config::YamlNode* op = one.find("op");
    int number = -1;
    if (op != nullptr) fill_value(*op, "op", number, fault);
    const config::YamlNode* is = one.find("is");
    if (fault || is == nullptr || number < 0 ||
        static_cast<std::size_t>(number) >= workload_.graph.operations.size())
      return wrong("an idle operation");
    work::Operation idle_op;
    WorkloadWalkIn walker(*is, "operation", fault);
    if (!fault) fill_what(walker, *is, idle_op, fault);
    if (!fault) walk_common(walker, idle_op);
    if (fault) return wrong(fault.why);
    workload_.graph[number] = std::move(idle_op);
    rank_->idle.push_back(number);
  }
  return {};
}

sim::Status ChakraOwnReader::add_operation(const std::string& text, int op, const std::string& where) {
  const auto known = operations_.find(op);
  if (known != operations_.end()) {
    if (known->second == text) return {};
    return in_file(rank_->file, fmt::format("{}: another rank has a different operation {}", where, op));
  }
  auto tree = parse_json(text, "operation", kOwnJson);
  if (!tree) return in_file(rank_->file, fmt::format("{}: {}", where, tree.error().message));
  WorkloadFault fault;
  WorkloadWalkIn walker(*tree, "operation", fault);
  work::Operation& made = workload_.graph[op];
  if (!fault) fill_what(walker, *tree, made, fault);
  if (!fault) walk_common(walker, made);
  if (!fault) walker.finish();
  if (fault) return in_file(rank_->file, fmt::format("{}: {}", where, fault.why));
  operations_.emplace(op, text);
  return {};
}

sim::Status ChakraOwnReader::take(const ChakraNode& node) {
  const std::string where =
      fmt::format("byte {}: node {} {}", node.offset, node.id, config::quote(node.name));
  if (node.id >= workload_.graph.operations.size())
    return in_file(rank_->file,
                   fmt::format("{}: there are {} operations", where, workload_.graph.operations.size()));
  const auto stream = node.number("infold.stream");
  const auto position = node.number("infold.position");
  if (!stream || *stream < 0 || *stream >= std::ssize(rank_->streams) || !position || *position < 0 ||
      *position >= std::ssize(workload_.graph.operations))
    return in_file(rank_->file,
                   fmt::format("{}: infold.stream or infold.position is missing or out of range", where));
  const int op = static_cast<int>(node.id);
  std::string text(node.text("infold.operation"));
  // What it waits for is part of what it is.
  std::string after;
  for (const std::uint64_t before : node.data) {
    if (before >= workload_.graph.operations.size())
      return in_file(rank_->file, fmt::format("{}: it waits for node {}, which there is not", where, before));
    after += fmt::format("{}{}", after.empty() ? "" : ",", before);
  }
  if (text.size() < 2 || text.back() != '}')
    return in_file(rank_->file, fmt::format("{}: infold.operation is missing", where));
  if (!after.empty()) text = fmt::format("{},\"after\":[{}]}}", text.substr(0, text.size() - 1), after);
  rank_->streams[static_cast<std::size_t>(*stream)].ops.push_back({static_cast<int>(*position), op});
  return add_operation(text, op, where);
}

sim::Result<study::Workload> ChakraOwnReader::finish() {
  work::Graph& graph = workload_.graph;
  if (static_cast<int>(ranks_.size()) != graph.ranks()) {
    int missing = 0;
    while (ranks_.contains(missing)) ++missing;
    return in_file(first_file_, fmt::format("it is of {} ranks, and the file of rank {} is not there",
                                            graph.ranks(), missing));
  }
  std::map<int, int> scripts;
  for (auto& [rank, own] : ranks_) {
    const auto [at, is_new] = scripts.try_emplace(own.script, static_cast<int>(graph.scripts.size()));
    if (is_new) graph.scripts.emplace_back();
    work::Script script{.streams = {}, .idle = own.idle};
    for (OwnStream& s : own.streams) {
      std::ranges::stable_sort(s.ops, {}, &Placed::position);
      for (const Placed& p : s.ops) s.stream.ops.push_back(p.op);
      script.streams.push_back(std::move(s.stream));
    }
    work::Script& place = graph.scripts[static_cast<std::size_t>(at->second)];
    if (is_new) {
      place = std::move(script);
    } else if (!std::ranges::equal(place.streams, script.streams, {}, &work::Stream::ops,
                                   &work::Stream::ops)) {
      return in_file(own.file, "it is said to do the same as another rank, and does not");
    }
    graph.script_of[static_cast<std::size_t>(rank)] = at->second;
  }
  if (const auto flaw = find_workload_flaw(graph)) return in_file(first_file_, flaw->why);
  if (auto checked = work::check(graph); !checked)
    return sim::fail(error_of_file(checked.error(), first_file_));
  return std::move(workload_);
}

}  // namespace infold::formats
