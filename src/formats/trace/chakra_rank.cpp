// Nodes of compute, memory and communication by their attributes; nodes of the CPU are delays of the host.
#include "formats/trace/chakra_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "config/yaml/position.h"
#include "config/yaml/text.h"
#include "formats/trace/chakra_file.h"
#include "formats/trace/chakra_own.h"
#include "formats/trace/collective_names.h"

namespace infold::formats {

namespace {

using Kind = TraceNode::Kind;

constexpr std::int64_t kMostDurationUs = std::int64_t{1} << 33;  // two hours
constexpr std::int64_t kLargestVector = std::int64_t{1} << 40;

/// The numbers of a list in text: "[0, 1]".
std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  const std::size_t end = text.find(']');
  int value = -1;
  for (const char c : text.substr(0, end)) {
    if (config::is_digit(c)) {
      if (value > 1'000'000) return {};
      value = std::max(value, 0) * 10 + (c - '0');
    } else if (value >= 0) {
      ranks.push_back(value);
      value = -1;
    }
  }
  if (value >= 0) ranks.push_back(value);
  return ranks;
}

class ChakraRankReader {
 public:
  explicit ChakraRankReader(ChakraCounts& counts) : counts_(counts) {}

  sim::Status take(ChakraNode& n) {
    if (out_.nodes.size() >= kMostTraceNodes)
      return sim::fail(fmt::format("byte {}: more than {} nodes", n.offset, kMostTraceNodes));
    if (!number_of_.emplace(n.id, static_cast<int>(out_.nodes.size())).second)
      return refuse(n, "a node with this id was before");
    TraceNode node{.name = n.name, .start_us = static_cast<double>(n.start_us)};
    if (n.duration_us > static_cast<std::uint64_t>(kMostDurationUs))
      return refuse(n, "it takes longer than two hours");
    node.time = sim::Time::us(static_cast<std::int64_t>(n.duration_us));
    if (n.name.find("process_group:init") != std::string::npos) read_groups(n.inputs);
    if (auto ok = understand(n, node); !ok) return ok;
    waits_.push_back({std::move(n.control), std::move(n.data)});
    out_.nodes.push_back(std::move(node));
    ++counts_.nodes;
    return {};
  }

  sim::Result<RankTrace> finish() {
    const std::int64_t missing = connect(/*control=*/true);
    if (check_circles()) {
      counts_.missing += missing;
      return std::move(out_);
    }
    // Converters of PyTorch's traces write who called whom as control, beside the order of data.
    counts_.missing += connect(/*control=*/false);
    if (auto ok = check_circles(); !ok) return sim::fail_as(std::move(ok));
    counts_.without_control = true;
    return std::move(out_);
  }

  RankTrace& out() { return out_; }

 private:
  struct Waits {
    std::vector<std::uint64_t> control;  // ids
    std::vector<std::uint64_t> data;
  };

  /// Says of all nodes what they wait for. Returns how many of those there are not.
  std::int64_t connect(bool control) {
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      std::vector<int>& after = out_.nodes[i].after;
      after.clear();
      const auto add = [&](const std::vector<std::uint64_t>& ids) {
        for (const std::uint64_t id : ids) {
          const auto found = number_of_.find(id);
          if (found == number_of_.end()) {
            ++missing;
          } else {
            after.push_back(found->second);
          }
        }
      };
      if (control) add(waits_[i].control);
      add(waits_[i].data);
      std::ranges::sort(after);
      after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    return missing;
  }

  sim::Failure refuse(const ChakraNode& n, std::string_view why) const {
    return sim::fail(fmt::format("byte {}: node {} {}: {}", n.offset, n.id, config::quote(n.name), why));
  }

  sim::Status understand(const ChakraNode& n, TraceNode& node) {
    const bool cpu = n.number("is_cpu_op").value_or(0) != 0;
    std::string lane =
        n.number("tid") ? fmt::format("{} {}", cpu ? "thread" : "stream", *n.number("tid")) : "";
    if (const auto stream = n.number("stream"); stream && !cpu) lane = fmt::format("stream {}", *stream);
    switch (n.type) {
      case ChakraType::kInvalid:
      case ChakraType::kMetadata:
        return {};
      case ChakraType::kMemoryLoad:
      case ChakraType::kMemoryStore: {
        ++counts_.memory;
        node.lane = lane.empty() ? "memory" : lane;
        const std::int64_t bytes = n.number("tensor_size").value_or(0);
        if (bytes < 0 || bytes > kLargestVector) return refuse(n, "tensor_size is out of range");
        node.kind = n.duration_us > 0 ? Kind::kCopyEngine : Kind::kKernel;
        node.sms = 1;
        node.bytes = sim::Bytes{bytes};
        return {};
      }
      case ChakraType::kCompute:
        if (cpu) {
          node.kind = Kind::kHost;
          node.lane = lane;
          return {};
        }
        node.kind = Kind::kKernel;
        node.lane = lane.empty() ? "compute" : lane;
        return understand_compute(n, node);
      case ChakraType::kSend:
      case ChakraType::kReceive:
        node.kind = n.type == ChakraType::kSend ? Kind::kSend : Kind::kReceive;
        return understand_message(n, node);
      case ChakraType::kCollective:
        if (!n.find("comm_type") && cpu) {
          node.kind = Kind::kHost;
          node.lane = lane;
          return {};
        }
        node.lane = cpu ? "" : lane;
        return understand_collective(n, node);
    }
    return {};
  }

  /// Without a duration, a kernel is known by its number of operations, as other simulators take it.
  sim::Status understand_compute(const ChakraNode& n, TraceNode& node) {
    const std::int64_t operations = n.number("num_ops").value_or(0);
    if (n.duration_us > 0 || operations <= 0) return {};
    constexpr double kMostSide = 1 << 17;
    const double side = std::cbrt(static_cast<double>(operations) / 2);
    if (side > kMostSide) return refuse(n, "num_ops is out of range");
    const auto whole = std::max<std::int64_t>(1, std::llround(side));
    node.product = TraceProduct{.m = whole, .n = whole, .k = whole};
    ++counts_.squares;
    return {};
  }

  sim::Status bytes_of(const ChakraNode& n, TraceNode& node) const {
    const auto bytes = n.number("comm_size");
    if (!bytes) return refuse(n, "it does not say how much it communicates: comm_size is missing");
    if (*bytes < 0 || *bytes > kLargestVector) return refuse(n, "comm_size is out of range");
    node.bytes = sim::Bytes{*bytes};
    return {};
  }

  sim::Status understand_message(const ChakraNode& n, TraceNode& node) {
    const bool sends = node.kind == Kind::kSend;
    const auto peer = n.number(sends ? "comm_dst" : "comm_src");
    if (!peer || *peer < 0 || *peer > 1'000'000)
      return refuse(n, sends ? "comm_dst is missing or out of range" : "comm_src is missing or out of range");
    node.peer = static_cast<int>(*peer);
    node.tag = n.number("comm_tag").value_or(0);
    return bytes_of(n, node);
  }

  sim::Status understand_collective(const ChakraNode& n, TraceNode& node) {
    node.kind = Kind::kCollective;
    using What = coll::Collective;
    const auto type = n.number("comm_type");
    if (!type) {
      const auto named = collective_named(n.name);
      if (!named || named->kind == Kind::kSend || named->kind == Kind::kReceive)
        return refuse(n, "comm_type is missing");
      node.kind = named->kind;
      node.collective = named->what;
    } else {
      struct Type {
        Kind kind;
        What what;
      };
      constexpr std::array<Type, 10> kTypes = {{{Kind::kCollective, What::kAllReduce},
                                                {Kind::kCollective, What::kReduce},
                                                {Kind::kCollective, What::kAllGather},
                                                {Kind::kGatherTo, What::kSend},
                                                {Kind::kScatterFrom, What::kSend},
                                                {Kind::kCollective, What::kBroadcast},
                                                {Kind::kCollective, What::kAllToAll},
                                                {Kind::kCollective, What::kReduceScatter},
                                                {Kind::kCollective, What::kReduceScatter},
                                                {Kind::kCollective, What::kBarrier}}};
      if (*type < 0 || *type >= std::ssize(kTypes))
        return refuse(n, fmt::format("there is no comm_type {}", *type));
      node.kind = kTypes[static_cast<std::size_t>(*type)].kind;
      node.collective = kTypes[static_cast<std::size_t>(*type)].what;
    }
    node.root = static_cast<int>(std::clamp<std::int64_t>(
        n.number("comm_root").value_or(n.number("root_rank").value_or(0)), 0, 1'000'000));
    std::string group(n.text("pg_name"));
    if (group.empty() && n.number("pg_name")) group = std::to_string(*n.number("pg_name"));
    if (group.empty()) ++counts_.no_group;
    node.group = group_called(config::shown(group), ranks_in(n.text("pg_ranks")));
    if (node.collective == What::kBarrier && node.kind == Kind::kCollective) return {};
    node.is_share = node.kind == Kind::kGatherTo ||
                    (node.kind == Kind::kCollective && node.collective == What::kAllGather);
    return bytes_of(n, node);
  }

  int group_called(const std::string& name, std::vector<int> ranks) {
    const auto found = std::ranges::find(out_.groups, name, &TraceGroup::name);
    if (found != out_.groups.end()) return static_cast<int>(found - out_.groups.begin());
    if (const auto known = ranks_of_.find(name); known != ranks_of_.end() && ranks.empty())
      ranks = known->second;
    out_.groups.push_back({.name = name, .about = {}, .ranks = std::move(ranks)});
    return static_cast<int>(out_.groups.size()) - 1;
  }

  /// What the node says that PyTorch writes for its process groups: a list of maps with "pg_name" and
  /// "ranks".
  void read_groups(std::string_view inputs) {
    std::string text(inputs);
    std::erase(text, '\\');
    for (std::size_t at = text.find("\"pg_name\""); at != std::string::npos;) {
      const std::size_t next = text.find("\"pg_name\"", at + 1);
      const std::string_view part =
          std::string_view(text).substr(at, next == std::string::npos ? next : next - at);
      const std::size_t open = part.find('"', part.find(':'));
      const std::size_t close = open == std::string_view::npos ? open : part.find('"', open + 1);
      const std::size_t ranks = part.find("\"ranks\"");
      if (close != std::string_view::npos && ranks != std::string_view::npos) {
        const std::string name = config::shown(part.substr(open + 1, close - open - 1));
        ranks_of_[name] = ranks_in(part.substr(ranks));
        for (TraceGroup& g : out_.groups) {
          if (g.name == name && g.ranks.empty()) g.ranks = ranks_of_[name];
        }
      }
      at = next;
    }
  }

  sim::Status check_circles() const {
    std::vector<int> pending(out_.nodes.size());
    std::vector<std::vector<int>> dependents(out_.nodes.size());
    std::vector<int> free;
    for (std::size_t i = 0; i < out_.nodes.size(); ++i) {
      pending[i] = static_cast<int>(out_.nodes[i].after.size());
      for (const int before : out_.nodes[i].after)
        dependents[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
      if (pending[i] == 0) free.push_back(static_cast<int>(i));
    }
    std::size_t ended = 0;
    for (; ended < free.size(); ++ended) {
      for (const int next : dependents[static_cast<std::size_t>(free[ended])]) {
        if (--pending[static_cast<std::size_t>(next)] == 0) free.push_back(next);
      }
    }
    if (ended == out_.nodes.size()) return {};
    sim::Error error{.message = "nodes wait for each other in a circle, so that none can begin",
                     .kind = sim::Error::Kind::kInput};
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < pending.size() && error.details.size() < kShown; ++i) {
      if (pending[i] == 0) continue;
      for (const int before : out_.nodes[i].after) {
        if (pending[static_cast<std::size_t>(before)] == 0) continue;
        error.message += fmt::format("{} {} waits for {}", error.details.empty() ? ":" : ";",
                                     config::quote(out_.nodes[i].name),
                                     config::quote(out_.nodes[static_cast<std::size_t>(before)].name));
        error.details.push_back(out_.nodes[i].name);
        break;
      }
    }
    error.details.clear();
    return sim::fail(std::move(error));
  }

  ChakraCounts& counts_;
  RankTrace out_;
  std::vector<Waits> waits_;  // by node
  std::map<std::uint64_t, int> number_of_;
  std::map<std::string, std::vector<int>> ranks_of_;
};

}  // namespace

sim::Result<std::optional<RankTrace>> read_chakra_rank(ByteStream& stream, const std::string& file, int rank,
                                                       ChakraCounts& counts, ChakraOwnReader& own) {
  bool is_own = false;
  ChakraRankReader reader(counts);
  reader.out().file = file;
  reader.out().rank = rank;
  const auto metadata = [&](const ChakraMetadata& m) -> sim::Status {
    counts.version = m.version;
    for (const ChakraAttribute& a : m.attributes) {
      const auto* text = std::get_if<std::string>(&a.value);
      if (a.name == "schema" && text != nullptr) counts.version = config::shown(*text);
      if (a.name != kOwnHeader || text == nullptr) continue;
      is_own = true;
      return own.begin(file, *text);
    }
    return {};
  };
  const auto node = [&](ChakraNode& n) { return is_own ? own.take(n) : reader.take(n); };
  if (auto read = read_chakra_file(stream, metadata, node); !read) {
    sim::Error error = read.error();
    error.place = {file, 0, 0};
    return sim::fail(std::move(error));
  }
  if (is_own) return std::nullopt;
  auto out = reader.finish();
  if (out) return std::move(*out);
  sim::Error error = out.error();
  error.place = {file, 0, 0};
  return sim::fail(std::move(error));
}

void note_chakra(const ChakraCounts& counts, Notes& notes) {
  if (!counts.version.empty()) notes.fact("schema", counts.version);
  notes.fact("nodes", counts.nodes);
  if (counts.missing > 0)
    notes.ignored.push_back(
        fmt::format("{} dependencies on nodes that are not in their file", counts.missing));
  if (counts.without_control) {
    notes.assumed.emplace_back(
        "control dependencies say who called whom, and not an order: with them nodes would wait for each "
        "other in "
        "a circle, so only data dependencies count");
  }
  if (counts.squares > 0) {
    notes.assumed.push_back(
        fmt::format("{} kernels say how many operations they have, and not how long they take: they are "
                    "square products of "
                    "fp16",
                    counts.squares));
  }
  if (counts.memory > 0)
    notes.assumed.push_back(
        fmt::format("{} loads and stores go to the memory of the GPU, beside compute", counts.memory));
  if (counts.no_group > 0)
    notes.assumed.push_back(
        fmt::format("{} collectives name no process group: all ranks take part", counts.no_group));
}

}  // namespace infold::formats
