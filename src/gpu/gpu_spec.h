// A GPU as a user writes it down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::gpu {

using namespace sim::literals;

struct HbmSpec {
  static constexpr std::string_view kAbout = "The GPU's memory: one queue with a rate and a latency.";
  sim::Bandwidth bandwidth = 2039_GBps;
  sim::Time latency = 650_ns;
  sim::Bytes capacity = 80_GiB;

  template <class V>
  void visit(V& v) {
    v.field("bandwidth", bandwidth, sim::between(1_GBps, 1'000'000_GBps), "bytes read or written per second");
    v.field("latency", latency, sim::between(0_ns, 100'000_ns),
            "time from a load to its data, queueing aside");
    v.field("capacity", capacity, sim::between(1_MiB, 65536_GiB), "memory size; bounds the buffers of a run");
  }
};

struct GpuSpec {
  static constexpr std::string_view kAbout = "One GPU.";
  std::string name;
  std::string summary;
  std::vector<std::string> sources;
  int sms = 108;
  sim::Frequency clock = 1410_MHz;
  sim::Bytes sm_port = 64_B;
  sim::Time poll = 300_ns;
  sim::Time fence = 1000_ns;
  sim::Time launch = 7500_ns;
  sim::Time host_enqueue = 12'000_ns;
  HbmSpec hbm;

  template <class V>
  void visit(V& v) {
    v.field("sms", sms, sim::between(1, 4096), "streaming multiprocessors (compute units)");
    v.field("clock", clock, sim::between(1_MHz, 100'000_MHz), "their clock");
    v.field("sm_port", sm_port, sim::between(1_B, 4_KiB),
            "bytes one SM moves to or from the memory system per clock");
    v.field("poll", poll, sim::between(0_ns, 100'000_ns),
            "time from a flag's arrival in memory to the waiting warp's seeing it");
    v.field("fence", fence, sim::between(0_ns, 100'000_ns),
            "time a fence towards other GPUs takes once the writes before it are acknowledged");
    v.field("launch", launch, sim::between(0_ns, 10'000'000_ns),
            "from the stream reaching a collective kernel to its first load");
    v.field("host_enqueue", host_enqueue, sim::between(0_ns, 10'000'000_ns),
            "host time to enqueue one collective; back-to-back collectives can not be faster");
    v.group("hbm", hbm);
  }
};

}  // namespace infold::gpu
