// How the collectives library is set up on a machine: channels, threads, buffers.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::coll {

using namespace sim::literals;

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

  template <class V>
  void visit(V& v) {
    v.field("channels", channels, sim::between(1, 256),
            "workgroups a collective uses on each GPU, one SM each");
    v.field("threads", threads, sim::between(32, 1024), "threads of a communication workgroup");
    v.field("in_flight_per_thread", in_flight_per_thread, sim::between(4_B, 4_KiB),
            "bytes a thread may have between load and its store's leaving for the wire");
    v.field("buffer", buffer, sim::between(4_KiB, 1_GiB), "receive buffer of one connection");
    v.field("buffer_steps", buffer_steps, sim::between(1, 64), "steps that buffer is cut into");
    v.field("slice_steps", slice_steps, sim::between(1, 64), "steps handed over with one flag");
    v.field("slices_per_chunk", slices_per_chunk, sim::between(1, 64),
            "slices of the piece that an algorithm passes on at once");
    v.field("min_bytes_per_thread", min_bytes_per_thread, sim::between(1_B, 1_MiB),
            "a channel is used only if each of its threads has this much of the message");
  }
};

}  // namespace infold::coll
