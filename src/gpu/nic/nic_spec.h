// What a GPU's way to other nodes is made of, as a user writes it down: its NIC, and the proxy on the host
// that drives it.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::gpu {

using namespace sim::literals;

struct NicSpec {
  static constexpr std::string_view kAbout = "The NIC of each GPU, and the PCIe between the two.";
  sim::Bandwidth rate = 50_GBps;
  sim::Bytes mtu = 4_KiB;
  sim::Bytes header = 26_B;
  sim::Bytes ack = 30_B;
  sim::Time latency = 200_ns;
  sim::Bandwidth pcie_rate = 55_GBps;
  sim::Time pcie_latency = 400_ns;
  sim::Bytes window = 256_KiB;

  template <class V>
  void visit(V& v) {
    v.field("rate", rate, sim::between(sim::Bandwidth::bytes_per_s(1'000'000), 100'000_GBps),
            "bytes that leave or enter it per second, headers included");
    v.field("mtu", mtu, sim::between(256_B, 4_KiB), "most payload of a packet");
    v.field("header", header, sim::between(0_B, 256_B), "bytes on the wire beside the payload, per packet");
    v.field("ack", ack, sim::between(0_B, 256_B), "bytes that the acknowledgement of a message takes");
    v.field("latency", latency, sim::between(0_ns, 1'000'000_ns),
            "time from the host's request to the first read from the GPU");
    v.field("pcie_rate", pcie_rate, sim::between(sim::Bandwidth::bytes_per_s(1'000'000), 100'000_GBps),
            "data that it reads from the GPU's memory or writes to it per second, each way");
    v.field("pcie_latency", pcie_latency, sim::between(0_ns, 1'000'000_ns),
            "time between NIC and GPU, one way; a read takes two");
    v.field("window", window, sim::between(4_KiB, 64_MiB),
            "bytes of a connection that it has asked the GPU for and not yet sent");
  }
};

struct HostSpec {
  static constexpr std::string_view kAbout =
      "The proxy: a thread of the host for each GPU, which posts what the GPU hands over to the NIC.";
  sim::Time notify = 700_ns;
  sim::Time post = 300_ns;
  sim::Time completion = 300_ns;
  sim::Time flush;
  sim::Time wake = 700_ns;

  template <class V>
  void visit(V& v) {
    v.field("notify", notify, sim::between(0_ns, 1'000'000_ns),
            "time from a GPU's store to the memory of the host until the proxy sees it");
    v.field("post", post, sim::between(0_ns, 1'000'000_ns), "time of the proxy to give the NIC a request");
    v.field("completion", completion, sim::between(0_ns, 1'000'000_ns),
            "time of the proxy to take up the end of a message, sent or received");
    v.field("flush", flush, sim::between(0_ns, 1'000'000_ns),
            "time of a read by the NIC that pushes what arrived into the GPU's memory; 0: not needed");
    v.field("wake", wake, sim::between(0_ns, 1'000'000_ns),
            "time from the proxy's store of a flag until it is where the GPU polls");
  }
};

}  // namespace infold::gpu
