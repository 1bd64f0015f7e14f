// How the collectives library is set up on a machine (channels, threads, buffers), and which of these
// settings apply to a protocol.
#pragma once

#include <string_view>

#include "coll/program/protocol.h"
#include "sim/params.h"
#include "sim/units.h"

namespace infold::coll {

using namespace sim::literals;

/// The settings that a protocol with flags inside the data has of its own. Buffers and bytes in flight
/// include the flags.
struct FlaggedTuning {
  static constexpr std::string_view kAbout = "A protocol that carries its flags inside the data.";
  int threads = 512;
  sim::Bytes in_flight_per_thread = 16_B;
  sim::Bytes buffer = 512_KiB;
  sim::Bytes min_bytes_per_thread = 8_B;

  template <class V>
  void visit(V& v) {
    v.field("threads", threads, sim::between(32, 1024), "threads of a communication workgroup");
    v.field("in_flight_per_thread", in_flight_per_thread, sim::between(4_B, 4_KiB),
            "bytes, flags included, that a thread polls for and passes on before it takes up more");
    v.field("buffer", buffer, sim::between(32_KiB, 1_GiB),
            "receive buffer of one connection, flags included");
    v.field("min_bytes_per_thread", min_bytes_per_thread, sim::between(1_B, 1_MiB),
            "a channel is used only if each of its threads has this much of the message");
  }
};

/// The settings of workgroups that use switches that reduce.
struct NvlsTuning {
  static constexpr std::string_view kAbout =
      "Workgroups that have switches reduce and multicast, NCCL's defaults unless said otherwise.";
  int channels = 16;
  int scatter_warps = 8;
  int reduce_warps = 5;
  int gather_warps = 7;
  sim::Bytes in_flight_per_thread = 64_B;
  sim::Bytes chunk = 128_KiB;
  int slots = 8;
  sim::Time setup;
  bool zero_copy = false;

  int warps() const { return scatter_warps + reduce_warps + gather_warps; }

  template <class V>
  void visit(V& v) {
    v.field("channels", channels, sim::between(1, 256), "workgroups on each GPU, one SM each");
    v.field("scatter_warps", scatter_warps, sim::between(1, 32),
            "warps that copy into the registered buffer");
    v.field("reduce_warps", reduce_warps, sim::between(1, 32), "warps that load sums and multicast them");
    v.field("gather_warps", gather_warps, sim::between(1, 32), "warps that copy out of the buffer");
    v.field("in_flight_per_thread", in_flight_per_thread, sim::between(4_B, 4_KiB),
            "bytes that a thread may have loaded and not yet sent");
    v.field("chunk", chunk, sim::between(1_KiB, 4_MiB), "most of a part that is handed on at once");
    v.field("slots", slots, sim::between(1, 64), "chunks of each part that the buffer holds");
    v.field(
        "setup", setup, sim::between(0_ns, 1'000'000_ns),
        "time a workgroup needs beyond gpu.launch to its first load: it has connections of several roles");
    v.field("zero_copy", zero_copy, "the user's memory is registered: no buffer, and all warps reduce");
  }
};

/// Point-to-point sends. NCCL computes the number of channels from the links and the size of a message.
struct P2pTuning {
  static constexpr std::string_view kAbout = "Point-to-point sends, NCCL's defaults unless said otherwise.";
  int channels = 32;
  int channels_per_link = 2;
  sim::Bytes chunk = 512_KiB;
  sim::Bytes min_part = 64_KiB;
  sim::Bytes max_part = 16_MiB;

  template <class V>
  void visit(V& v) {
    v.field("channels", channels, sim::between(1, 256), "workgroups on each GPU, at most, one SM each");
    v.field("channels_per_link", channels_per_link, sim::between(1, 64),
            "channels between two GPUs, at most, per link that joins them");
    v.field("chunk", chunk, sim::between(1_KiB, 64_MiB),
            "handed over with one flag; no more than a step of coll.buffer (NCCL over PCIe or a network: "
            "128 KiB)");
    v.field("min_part", min_part, sim::between(16_B, 1_GiB), "a channel has at least this much of a message");
    v.field("max_part", max_part, sim::between(16_B, 1_GiB),
            "with more than this for each channel, twice as many are used while there are any");
  }
};

/// The exchange of experts, as a collective by itself: dispatch and combine.
struct ExpertTuning {
  static constexpr std::string_view kAbout =
      "Which ranks dispatch sends a token to, and combine sums it over.";
  int fan_out = 2;
  sim::Bytes token = 4_KiB;

  template <class V>
  void visit(V& v) {
    v.field("fan_out", fan_out, sim::between(1, 1024),
            "ranks that each token goes to: token t of rank r to so many in a row from rank r + t on");
    v.field("token", token, sim::between(16_B, 1_MiB), "bytes of a token");
  }
};

struct Tuning {
  static constexpr std::string_view kAbout =
      "Settings of the collectives library, NCCL's defaults unless said otherwise.";
  int channels = 24;
  int threads = 512;
  sim::Bytes in_flight_per_thread = 64_B;
  sim::Bytes buffer = 4_MiB;
  int buffer_steps = 8;
  int slice_steps = 2;
  int slices_per_chunk = 2;
  sim::Bytes min_bytes_per_thread = 64_B;
  int add_workgroups = 8;
  FlaggedTuning ll;
  FlaggedTuning ll128{.threads = 640, .in_flight_per_thread = 64_B, .buffer = 4800_KiB};
  NvlsTuning nvls;
  P2pTuning p2p;
  ExpertTuning experts;

  // The members below are set by for_protocol() and cannot be written in a file.
  Protocol protocol = Protocol::kSimple;
  sim::Bytes chunk_grain = 16_B;  ///< algorithms make chunks multiples of this

  template <class V>
  void visit(V& v) {
    v.field("channels", channels, sim::between(1, 256),
            "workgroups a collective uses on each GPU, one SM each");
    v.field("threads", threads, sim::between(32, 1024), "threads of a communication workgroup");
    v.field("in_flight_per_thread", in_flight_per_thread, sim::between(4_B, 4_KiB),
            "bytes that a thread may have loaded and not yet sent to the wire");
    v.field("buffer", buffer, sim::between(4_KiB, 1_GiB), "receive buffer of one connection");
    v.field("buffer_steps", buffer_steps, sim::between(1, 64), "steps that buffer is cut into");
    v.field("slice_steps", slice_steps, sim::between(1, 64), "steps handed over with one flag");
    v.field("slices_per_chunk", slices_per_chunk, sim::between(1, 64),
            "slices of the piece that an algorithm passes on at once");
    v.field("min_bytes_per_thread", min_bytes_per_thread, sim::between(1_B, 1_MiB),
            "a channel is used only if each of its threads has this much of the message");
    v.field("add_workgroups", add_workgroups, sim::between(1, 256),
            "with copy engines: workgroups, at most, of a short kernel that adds one slice");
    v.group("ll", ll);
    v.group("ll128", ll128);
    v.group("nvls", nvls);
    v.group("p2p", p2p);
    v.group("experts", experts);
  }
};

/// The settings that apply when a collective runs with `p`: threads, buffer and slices are those of the
/// protocol, and the buffer is counted in data.
inline Tuning for_protocol(Tuning t, Protocol p) {
  t.protocol = p;
  if (p == Protocol::kSimple) return t;
  const FlaggedTuning& own = p == Protocol::kLl ? t.ll : t.ll128;
  const gpu::Encoding encoding = encoding_of(p);
  t.threads = own.threads;
  t.in_flight_per_thread = own.in_flight_per_thread;
  t.min_bytes_per_thread = own.min_bytes_per_thread;
  // Every step of the buffer is one slice and one chunk, and consists of whole accesses.
  const sim::Bytes step = own.buffer / t.buffer_steps;
  const sim::Bytes accesses{step.count() / encoding.wire(sim::Bytes{encoding.access}).count()};
  t.buffer = sim::Bytes{encoding.access} * accesses.count() * t.buffer_steps;
  t.slice_steps = 1;
  t.slices_per_chunk = 1;
  // The grain gives all threads something to do: one line each with LL, half a warp's access each with LL128.
  t.chunk_grain = p == Protocol::kLl ? sim::Bytes{encoding.line_data} * t.threads
                                     : sim::Bytes{encoding.access} * (t.threads / 32) / 2;
  return t;
}

}  // namespace infold::coll
