// A GPU's memory stacks as a user writes them down.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::gpu {

using namespace sim::literals;

struct HbmSpec {
  static constexpr std::string_view kAbout =
      "The GPU's memory: groups of channels, each a queue that turns between reading and writing.";
  sim::Bandwidth bandwidth = 2039_GBps;
  sim::Bytes capacity = 80_GiB;
  sim::Time access = 220_ns;
  int channels = 80;
  int groups = 10;
  sim::Bytes write_drain = 2_KiB;
  sim::Time turnaround = 15_ns;
  sim::Time refresh_interval = 3900_ns;
  sim::Time refresh = 270_ns;

  template <class V>
  void visit(V& v) {
    v.field("bandwidth", bandwidth, sim::between(1_GBps, 1'000'000_GBps), "bytes read or written per second");
    v.field("capacity", capacity, sim::between(1_MiB, 65536_GiB), "memory size; bounds the buffers of a run");
    v.field("access", access, sim::between(0_ns, 100'000_ns),
            "latency that a miss in L2 adds to a load, without queueing");
    v.field("channels", channels, sim::between(1, 4096),
            "channels that turn around by themselves (pseudo-channels)");
    v.field("groups", groups, sim::between(1, 256), "queues that the channels are modelled as");
    v.field("write_drain", write_drain, sim::between(64_B, 1_MiB),
            "bytes that a channel collects before it turns from reading to writing");
    v.field("turnaround", turnaround, sim::between(0_ns, 10'000_ns),
            "idle time of a channel when it turns, each way");
    v.field("refresh_interval", refresh_interval, sim::between(1_ns, 1'000'000_ns),
            "time between two refreshes of a channel");
    v.field("refresh", refresh, sim::between(0_ns, 1'000'000_ns),
            "time that a refresh takes, in which the channel serves no access");
  }
};

}  // namespace infold::gpu
