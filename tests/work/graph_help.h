// Small graphs made by hand.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "work/graph.h"

namespace infold::work::help {

using namespace sim::literals;

/// One script for all ranks, with streams of compute, communication, copies and host, and one communicator.
inline Graph graph_of(int ranks) {
  Graph g;
  g.script_of.assign(static_cast<std::size_t>(ranks), 0);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  g.communicators.push_back({.name = "all", .groups = {all}});
  using Kind = Stream::Kind;
  g.scripts = {{.streams = {{.name = "compute", .kind = Kind::kCompute},
                            {.name = "communication", .kind = Kind::kCommunication, .communicator = 0},
                            {.name = "copies", .kind = Kind::kBeside},
                            {.name = "host", .kind = Kind::kHost}}}};
  return g;
}
inline Stream& compute(Graph& g, std::size_t script = 0) {
  return g.scripts[script].streams[0];
}
inline Stream& communication(Graph& g, std::size_t script = 0) {
  return g.scripts[script].streams[1];
}
inline Stream& copies(Graph& g) {
  return g.scripts[0].streams[2];
}
inline Stream& host(Graph& g) {
  return g.scripts[0].streams[3];
}

inline Operation marker(std::string name = {}, std::vector<OpId> after = {}) {
  return {.what = Marker{}, .name = std::move(name), .after = std::move(after)};
}
inline Operation timed(sim::Time time, std::vector<OpId> after = {}, int sms = 1) {
  return {.what = Timed{.time = time, .sms = sms, .bytes = {}}, .after = std::move(after)};
}
/// Of a buffer that is added.
inline Operation all_reduce(Graph& g, sim::Bytes bytes, std::vector<OpId> after = {}) {
  return {.what = Collective{.buffer = g.add(Buffer{bytes})}, .after = std::move(after)};
}

}  // namespace infold::work::help
