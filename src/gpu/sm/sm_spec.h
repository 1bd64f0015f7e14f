// SMs, L2 and copy engines of a GPU as a user writes them down.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::gpu {

using namespace sim::literals;

struct SmSpec {
  static constexpr std::string_view kAbout = "A streaming multiprocessor (compute unit).";
  sim::Frequency matrix_clock = 1230_MHz;
  int matrix8 = 0;
  int matrix16 = 2048;
  int matrix32 = 1024;
  int vector32 = 128;
  int threads = 2048;
  sim::Bytes registers = 256_KiB;
  sim::Bytes shared_memory = 164_KiB;
  sim::Bytes shared_port = 128_B;
  int fragment_rows = 64;
  int fragment_cols = 64;
  int fragments = 4;
  int cluster = 1;
  int slab_issue = 30;
  int slab_sync = 40;
  sim::Bytes outstanding = 32_KiB;
  sim::Time workgroup_start = 400_ns;

  template <class V>
  void visit(V& v) {
    v.field("matrix_clock", matrix_clock, sim::between(1_MHz, 100'000_MHz),
            "clock that the power limit sustains while the matrix units are busy");
    v.field("matrix8", matrix8, sim::between(0, 1 << 20),
            "fp8 matrix operations per clock (a multiply-add is two); 0: there are none");
    v.field("matrix16", matrix16, sim::between(1, 1 << 20),
            "16-bit matrix operations per clock (a multiply-add is two)");
    v.field("matrix32", matrix32, sim::between(1, 1 << 20),
            "the same for tf32, or for fp32 if there is no tf32");
    v.field("vector32", vector32, sim::between(1, 1 << 20), "the same for fp32 outside the matrix units");
    v.field("threads", threads, sim::between(256, 1 << 16), "threads that can be resident");
    v.field("registers", registers, sim::between(64_KiB, 16_MiB), "register file");
    v.field("shared_memory", shared_memory, sim::between(16_KiB, 16_MiB),
            "shared memory for resident workgroups");
    v.field("shared_port", shared_port, sim::between(1_B, 64_KiB),
            "bytes that shared memory moves per clock");
    v.field("fragment_rows", fragment_rows, sim::between(8, 4096),
            "rows of a tile that share one reading of the right operand from shared memory");
    v.field("fragment_cols", fragment_cols, sim::between(8, 4096),
            "columns of a tile that share one reading of the left operand");
    v.field("fragments", fragments, sim::between(1, 64),
            "fragments that a tile has at least: one for each part of the SM that computes by itself");
    v.field("cluster", cluster, sim::between(1, 16),
            "workgroups on neighbouring SMs that share one load of a common operand");
    v.field("slab_issue", slab_issue, sim::between(0, 100'000),
            "clocks of a slab in which the matrix unit stands still: copies and barriers are issued");
    v.field("slab_sync", slab_sync, sim::between(0, 100'000),
            "more clocks between two slabs of one workgroup, in which another workgroup can compute");
    v.field("outstanding", outstanding, sim::between(1_KiB, 16_MiB),
            "bytes of loads that can be on their way to the SM, because its first-level cache tracks each "
            "sector");
    v.field("workgroup_start", workgroup_start, sim::between(0_ns, 1'000'000_ns),
            "time from when a workgroup gets an SM to its first load");
  }
};

struct L2Spec {
  static constexpr std::string_view kAbout =
      "The second-level cache, through which everything goes to memory.";
  sim::Bytes capacity = 40_MiB;
  int copies = 2;
  int slices = 80;
  sim::Bytes slice_port = 64_B;
  sim::Time latency = 142_ns;

  template <class V>
  void visit(V& v) {
    v.field("capacity", capacity, sim::between(64_KiB, 64_GiB), "data it holds, copies included");
    v.field("copies", copies, sim::between(1, 64), "partitions that each keep their own copy of shared data");
    v.field("slices", slices, sim::between(1, 4096), "slices; addresses are spread evenly over them");
    v.field("slice_port", slice_port, sim::between(1_B, 4_KiB), "bytes that a slice moves per clock");
    v.field("latency", latency, sim::between(0_ns, 100'000_ns),
            "time from an SM's load to its data, if L2 has them");
  }
};

struct CopyEngineSpec {
  static constexpr std::string_view kAbout = "Engines that copy memory without an SM.";
  int engines = 4;
  sim::Bytes payload = 256_B;
  sim::Bytes in_flight = 128_KiB;
  sim::Bandwidth rate = 400_GBps;
  sim::Time command = 1500_ns;
  sim::Time signal = 500_ns;

  template <class V>
  void visit(V& v) {
    v.field("engines", engines, sim::between(1, 256), "engines that can copy at the same time");
    v.field("payload", payload, sim::between(16_B, 4_KiB), "bytes of one request or packet");
    v.field("in_flight", in_flight, sim::between(256_B, 64_MiB), "most bytes that one engine has under way");
    v.field("rate", rate, sim::between(1_GBps, 100'000_GBps), "most bytes that one engine moves per second");
    v.field("command", command, sim::between(0_ns, 1'000'000_ns),
            "time an engine spends on fetching and decoding a copy's command before it begins to load");
    v.field("signal", signal, sim::between(0_ns, 1'000'000_ns),
            "time from a copy's last acknowledgement to its completion being signalled");
  }
};

struct AceSpec {
  static constexpr std::string_view kAbout =
      "An accelerator for collectives at the GPU's ports (as ACE, Rashidi et al., ISCA 2021): memory, adders "
      "and state machines of its own. Its sizes are assumed, after that design.";
  sim::Bytes sram = 4_MiB;
  int machines = 16;
  sim::Bytes message = 8_KiB;
  sim::Bytes chunk = 64_KiB;
  sim::Bytes read_ahead = 16_KiB;
  int alus = 4;
  sim::Bytes alu_width = 64_B;
  sim::Frequency clock = 1245_MHz;
  sim::Bandwidth bus = 500_GBps;
  sim::Time start = 1000_ns;

  /// The rate of all adders together.
  sim::Bandwidth rate() const {
    return sim::Bandwidth::bytes_per_s(alus * alu_width.count() * clock.count_hz());
  }

  template <class V>
  void visit(V& v) {
    v.field("sram", sram, sim::between(64_KiB, 16_GiB),
            "its memory: received messages and what was read ahead; bounds what is in flight");
    v.field("machines", machines, sim::between(1, 256),
            "state machines; each walks one channel of a program");
    v.field("message", message, sim::between(512_B, 16_MiB), "bytes handed on at once");
    v.field("chunk", chunk, sim::between(512_B, 256_MiB), "most bytes that an algorithm passes on at once");
    v.field("read_ahead", read_ahead, sim::between(512_B, 128_KiB),
            "most bytes that a state machine has loaded from memory and not yet sent");
    v.field("alus", alus, sim::between(1, 1024), "adders");
    v.field("alu_width", alu_width, sim::between(4_B, 4_KiB),
            "bytes of one operand that an adder takes per clock");
    v.field("clock", clock, sim::between(1_MHz, 100'000_MHz), "their clock");
    v.field("bus", bus, sim::between(1_GBps, 100'000_GBps),
            "most bytes per second that it loads from the GPU's memory");
    v.field("start", start, sim::between(0_ns, 1'000'000_ns),
            "time from the moment the stream reaches a collective to the start of its state machines");
  }
};

struct CollectiveEngineSpec {
  static constexpr std::string_view kAbout =
      "The engine that walks in-network collectives without an SM, and the port that answers switches.";
  sim::Bytes in_flight = 512_KiB;
  sim::Bandwidth rate = 1000_GBps;
  sim::Time start = 500_ns;
  sim::Time reply_jitter;

  template <class V>
  void visit(V& v) {
    v.field("in_flight", in_flight, sim::between(4_KiB, 1_GiB),
            "bytes that one collective has between load, or request, and leaving for the wire");
    v.field("rate", rate, sim::between(1_GBps, 100'000_GBps),
            "most bytes per second that it takes from memory");
    v.field("start", start, sim::between(0_ns, 10'000'000_ns),
            "time from the moment the stream reaches a collective to the engine's first load");
    v.field("reply_jitter", reply_jitter, sim::between(0_ns, 100'000_ns),
            "loads for the engine and for switches take longer by a random time up to this");
  }
};

}  // namespace infold::gpu
