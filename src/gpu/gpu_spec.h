// A GPU as a user writes it down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/memory/hbm_spec.h"
#include "gpu/sm/sm_spec.h"
#include "sim/params.h"
#include "sim/units.h"

namespace infold::gpu {

using namespace sim::literals;

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
  sim::Time launch = 6000_ns;
  sim::Time host_enqueue = 12'000_ns;
  sim::Time launch_gap = 1500_ns;
  SmSpec sm;
  L2Spec l2;
  HbmSpec hbm;
  CopyEngineSpec copy;
  AceSpec ace;
  CollectiveEngineSpec engine;

  template <class V>
  void visit(V& v) {
    v.field("sms", sms, sim::between(1, 4096), "streaming multiprocessors (compute units)");
    v.field("clock", clock, sim::between(1_MHz, 100'000_MHz), "their clock");
    v.field("sm_port", sm_port, sim::between(1_B, 4_KiB),
            "bytes one SM moves to or from the memory system per clock");
    v.field("poll", poll, sim::between(0_ns, 100'000_ns),
            "time from a flag's arrival in memory until the waiting warp sees it");
    v.field("fence", fence, sim::between(0_ns, 100'000_ns),
            "time a fence towards other GPUs takes once the writes before it are acknowledged");
    v.field("launch", launch, sim::between(0_ns, 10'000'000_ns),
            "time from when a collective's workgroups are on their SMs to their first load");
    v.field("host_enqueue", host_enqueue, sim::between(0_ns, 10'000'000_ns),
            "host time to enqueue one collective; back-to-back collectives cannot be faster");
    v.field("launch_gap", launch_gap, sim::between(0_ns, 10'000'000_ns),
            "time from the end of a kernel to the start of the next in its stream");
    v.group("sm", sm);
    v.group("l2", l2);
    v.group("hbm", hbm);
    v.group("copy", copy);
    v.group("ace", ace);
    v.group("engine", engine);
  }
};

}  // namespace infold::gpu
