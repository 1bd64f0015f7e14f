// Traces made by hand: files of Chakra node by node, and profiles of PyTorch event by event.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/trace/chakra_file.h"
#include "formats/trace/traces.h"
#include "helpers.h"

namespace infold::formats::help {

inline ChakraNode node(std::uint64_t id, ChakraType type, std::vector<std::uint64_t> after = {},
                       std::vector<ChakraAttribute> attributes = {}, std::uint64_t us = 0) {
  return {.offset = 0,
          .id = id,
          .name = fmt::format("n{}", id),
          .type = type,
          .control = {},
          .data = std::move(after),
          .start_us = 0,
          .duration_us = us,
          .inputs = {},
          .attributes = std::move(attributes)};
}
inline ChakraAttribute number(std::string name, std::int64_t value) {
  return {.name = std::move(name), .value = value};
}
inline ChakraNode kernel(std::uint64_t id, std::uint64_t us, std::vector<std::uint64_t> after = {}) {
  return node(id, ChakraType::kCompute, std::move(after), {number("is_cpu_op", 0)}, us);
}
inline ChakraNode collective(std::uint64_t id, std::int64_t type, std::int64_t bytes,
                             std::vector<std::uint64_t> after = {}) {
  return node(id, ChakraType::kCollective, std::move(after),
              {number("is_cpu_op", 0), number("comm_type", type), number("comm_size", bytes)});
}
inline ChakraNode send(std::uint64_t id, int to, std::int64_t bytes, std::vector<std::uint64_t> after = {}) {
  return node(id, ChakraType::kSend, std::move(after), {number("comm_size", bytes), number("comm_dst", to)});
}
inline ChakraNode receive(std::uint64_t id, int from, std::int64_t bytes,
                          std::vector<std::uint64_t> after = {}) {
  return node(id, ChakraType::kReceive, std::move(after),
              {number("comm_size", bytes), number("comm_src", from)});
}
inline std::string chakra(const std::vector<ChakraNode>& nodes) {
  std::string bytes = chakra_bytes(ChakraMetadata{.version = "0.0.4", .attributes = {}});
  for (const ChakraNode& n : nodes) bytes += chakra_bytes(n);
  return bytes;
}

/// A kernel and its launch, `lead` microseconds before it.
inline std::string launched(int correlation, double begin, double us, int stream, std::string_view more = {},
                            std::string_view name = "k", double lead = 5) {
  return fmt::format(
      R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"correlation":{}}}}},
{{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"stream":{},"device":0,"correlation":{},"grid":[512,1,1],"block":[128,1,1]{}}}}},
)",
      begin - lead, correlation, name, stream, begin, us, stream, correlation, more);
}
inline std::string nccl(std::string_view collective, std::int64_t in, std::int64_t out,
                        std::string_view more = {}) {
  return fmt::format(
      R"(,"Collective name":"{}","dtype":"Float","In msg nelems":{},"Out msg nelems":{},"Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]"{})",
      collective, in, out, more);
}
inline std::string kineto(const std::string& events, int rank = 0, int world = 2) {
  return fmt::format(
      R"({{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"NVIDIA A100-SXM4-40GB","numSms":108}}],
"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},
"traceEvents":[
{}{{"ph":"M","name":"process_name","pid":1,"args":{{"name":"python"}}}}
]}})",
      rank, world, events);
}

/// The operations of a kind on a rank, in the order of the list.
template <class T>
std::vector<T> all_of(const work::Graph& graph, int rank = 0) {
  std::vector<T> found;
  for (const work::Stream& stream : graph.script(rank).streams) {
    for (const work::OpId op : stream.ops) {
      if (const auto* what = std::get_if<T>(&graph[op].what)) found.push_back(*what);
    }
  }
  return found;
}

}  // namespace infold::formats::help
