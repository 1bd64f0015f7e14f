// What one rank did, as traces tell it: nodes that wait for each other. Readers of traces make it, and
// graph_builder.h makes a workload of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coll/program/collective.h"
#include "gpu/names.h"
#include "sim/dtype.h"
#include "sim/units.h"
#include "study/replay/workload.h"

namespace infold::formats {

/// Ranks that communicate, as a trace names them.
struct TraceGroup {
  std::string name;        ///< of the process group, the same on its members
  std::string about;       ///< what it is for, where the trace says it: "dp", "default_pg"
  std::vector<int> ranks;  ///< in their order; empty: not known
  bool operator==(const TraceGroup&) const = default;
};

/// A matrix product whose shape is known, several of one shape in one kernel.
struct TraceProduct {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t groups = 1;
  gpu::Precision precision = gpu::Precision::kFp16;
};

struct TraceNode {
  enum class Kind : std::uint8_t {
    kKernel,      ///< `time`, `sms`, `workgroups`, or a product
    kCopyEngine,  ///< takes `time`, and no SMs
    kHost,        ///< the host is busy for `time`
    kCollective,
    kGatherTo,     ///< the root gets the shares of all
    kScatterFrom,  ///< all get shares from the root
    kSend,
    kReceive,
    kNothing,  ///< only what waits for it waits for what it waits for
  };
  Kind kind = Kind::kNothing;
  std::string name = {};
  std::string lane = {};  ///< stream of the GPU or thread of the host: its nodes run one after the other
  std::vector<int> after = {};  ///< nodes of the same rank
  double start_us = 0;          ///< as recorded; nodes of a rank are in its order
  sim::Time time = {};
  int sms = 0;
  int workgroups = 0;
  sim::Bytes bytes = {};  ///< of a message; of a collective the larger of what goes in and comes out
  bool is_share = false;  ///< `bytes` are what one rank gives, and all give as many
  std::optional<TraceProduct> product = {};
  coll::Collective collective = coll::Collective::kAllReduce;
  int group = -1;  ///< among the groups of the rank
  int root = 0;    ///< a rank of all
  int peer = 0;    ///< the same
  std::int64_t tag = 0;
};

struct RankTrace {
  std::string file;
  int rank = 0;
  int world = 0;  ///< of all ranks; 0: not known
  std::vector<TraceGroup> groups = {};
  std::vector<TraceNode> nodes = {};
  bool ordered = false;  ///< nodes are in the order in which they ran; otherwise an order is looked for
  std::optional<sim::DataType> type = {};  ///< of most of what is communicated
  std::optional<study::TraceMeasured> measured = {};
};

}  // namespace infold::formats
