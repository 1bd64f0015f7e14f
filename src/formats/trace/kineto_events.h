// The events of a PyTorch profiler trace that tell what GPU and host did, read one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/text/byte_stream.h"
#include "formats/trace/trace_nodes.h"
#include "sim/result.h"

namespace infold::formats {

/// What NCCL was asked for.
struct KinetoCollective {
  std::string name;
  std::string type;
  std::int64_t in = 0;   ///< elements
  std::int64_t out = 0;  ///< elements
  int group_size = 0;
  std::string group;
  std::string group_about;
  std::vector<int> ranks;  ///< empty where they are not written, or not to the end
  int source = -1;
  int destination = -1;
};

/// Something that the GPU did.
struct KinetoActivity {
  enum class Kind : std::uint8_t { kKernel, kCopy, kSet };
  Kind kind = Kind::kKernel;
  std::string name;
  double begin = 0;  ///< microseconds, as all times here
  double end = 0;
  std::int64_t stream = 0;
  std::int64_t device = 0;
  std::int64_t correlation = -1;
  std::int64_t external = -1;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  int collective = -1;  ///< among the collectives of the trace
};

/// A call of the CUDA runtime or driver.
struct KinetoCall {
  enum class Kind : std::uint8_t { kLaunch, kRecord, kWaitEvent, kSynchronize };
  Kind kind = Kind::kLaunch;
  double begin = 0;
  double end = 0;
  std::int64_t thread = 0;
  std::int64_t correlation = -1;
};

/// A stream waits for an event that another has recorded.
struct KinetoWait {
  std::int64_t stream = 0;
  std::int64_t correlation = -1;  ///< of the call
  std::int64_t other = -1;        ///< the stream that is waited for
  std::int64_t recorded = -1;     ///< correlation of the call that recorded the event
};

/// An operator whose arguments say the shape of its kernel.
struct KinetoOperator {
  std::string name;
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<std::string> types;
};

struct KinetoSpan {
  std::string name;
  double begin = 0;
  double end = 0;
  std::int64_t thread = 0;
};

struct KinetoTrace {
  int rank = -1;
  int world = 0;
  int sms = 0;
  std::string gpu;
  std::int64_t events = 0;
  std::map<std::string, std::vector<int>> groups;  ///< ranks, by name
  std::vector<KinetoActivity> activities;
  std::vector<KinetoCall> calls;
  std::vector<KinetoWait> waits;
  std::vector<KinetoCollective> collectives;
  std::map<std::int64_t, int> collective_of_operator;  ///< by external id
  std::map<std::int64_t, KinetoOperator> operators;    ///< by external id
  std::vector<KinetoSpan> steps;                       ///< ProfilerStep#...
  std::vector<KinetoSpan> inside_nccl;                 ///< the host is in a call of NCCL
};

/// Refuses what is no such trace, with line and column, and one with more than a million activities.
sim::Result<KinetoTrace> read_kineto_events(ByteStream& stream, const std::string& file);

}  // namespace infold::formats
