// The reduction unit of a switch as a user writes it down: its sizes, its rates, and a policy for each
// difficult case.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::inc {

using namespace sim::literals;

enum class TableFull { kStall, kBypass, kEvict };
inline constexpr std::array kTableFullNames = {
    sim::Named{TableFull::kStall, "stall", "the contribution waits in its input buffer"},
    sim::Named{TableFull::kBypass, "bypass", "the contribution goes to the block's home GPU, which adds it"},
    sim::Named{TableFull::kEvict, "evict", "the oldest partial sum goes to its home GPU and makes room"},
};
constexpr std::span<const sim::Named<TableFull>> names_of(TableFull) {
  return kTableFullNames;
}

enum class Sharing { kShared, kByJob, kByBucket };
inline constexpr std::array kSharingNames = {
    sim::Named{Sharing::kShared, "shared", "one table for all, first come first served"},
    sim::Named{Sharing::kByJob, "by-job", "every job that is active has an equal part of it"},
    sim::Named{Sharing::kByBucket, "by-bucket", "every collective under way has an equal part of it"},
};
constexpr std::span<const sim::Named<Sharing>> names_of(Sharing) {
  return kSharingNames;
}

enum class Accumulate { kFp32, kWire };
inline constexpr std::array kAccumulateNames = {
    sim::Named{Accumulate::kFp32, "fp32", "sums are kept in fp32 and rounded when they leave the switch"},
    sim::Named{Accumulate::kWire, "wire", "sums are kept in the type of the data"},
};
constexpr std::span<const sim::Named<Accumulate>> names_of(Accumulate) {
  return kAccumulateNames;
}

enum class SumOrder { kArrival, kRank };
inline constexpr std::array kSumOrderNames = {
    sim::Named{SumOrder::kArrival, "arrival", "contributions are added as they arrive"},
    sim::Named{
        SumOrder::kRank, "rank",
        "contributions wait in their input buffers for those of lower ranks: the same bits every time"},
};
constexpr std::span<const sim::Named<SumOrder>> names_of(SumOrder) {
  return kSumOrderNames;
}

enum class Levels { kEach, kTop };
inline constexpr std::array kLevelsNames = {
    sim::Named{Levels::kEach, "each", "every switch on the way sums what comes from below"},
    sim::Named{Levels::kTop, "top", "only the switch where all ways meet sums; others pass on"},
};
constexpr std::span<const sim::Named<Levels>> names_of(Levels) {
  return kLevelsNames;
}

/// What the switches of a machine can do. The other parameters say how, if they can or are taken to.
enum class Unit { kNone, kNvls, kProposed };
inline constexpr std::array kUnitNames = {
    sim::Named{Unit::kNone, "none", "switches pass packets on and reduce nothing"},
    sim::Named{Unit::kNvls, "nvls", "switches sum and multicast what SMs ask for, as NVLink SHARP"},
    sim::Named{Unit::kProposed, "proposed",
               "a design that is not built: switches also sum what collective engines push or ask for"},
};
constexpr std::span<const sim::Named<Unit>> names_of(Unit) {
  return kUnitNames;
}

struct IncSpec {
  static constexpr std::string_view kAbout =
      "The unit of a switch that reduces and multicasts; its tables and ALUs are per port.";
  static constexpr std::string_view kAlsoCalled = "reduction-unit";
  Unit unit = Unit::kNone;
  sim::Bytes table_bytes = 4_KiB;
  int table_entries = 0;
  sim::Bandwidth alu_rate = 25_GBps;
  sim::Bandwidth switch_alu_rate;
  sim::Time latency = 10_ns;
  sim::Bytes result_buffer = 4_KiB;
  sim::Bytes payload = 128_B;
  sim::Bytes sm_payload = 64_B;
  sim::Bytes request = 16_B;
  TableFull table_full = TableFull::kStall;
  sim::Time patience = 200'000_ns;
  sim::Time remind_after = 2'000_ns;
  Sharing sharing = Sharing::kShared;
  Accumulate accumulate = Accumulate::kFp32;
  SumOrder order = SumOrder::kArrival;
  Levels levels = Levels::kEach;
  sim::Bytes wave;
  int waves = 2;

  template <class V>
  void visit(V& v) {
    v.field("unit", unit, "which reductions the switches of this machine can do; others need --what-if inc");
    v.field("table_bytes", table_bytes, sim::between(16_B, 64_MiB),
            "room for partial sums in the table of one port");
    v.field("table_entries", table_entries, sim::between(0, 1 << 20),
            "most entries of one port's table; 0: as many as its bytes hold");
    v.field("alu_rate", alu_rate, sim::between(sim::Bandwidth::bytes_per_s(1'000'000), 100'000_GBps),
            "bytes of contributions that one port's ALUs add per second");
    v.field("switch_alu_rate", switch_alu_rate, sim::between(sim::Bandwidth{}, 1'000'000_GBps),
            "the same of all ports together; 0: no further limit");
    v.field("latency", latency, sim::between(0_ns, 100'000_ns),
            "time from the addition of a contribution to when the sum enters an output queue");
    v.field("result_buffer", result_buffer, sim::between(16_B, 64_MiB),
            "room of one port for finished sums until every copy has left");
    v.field("payload", payload, sim::between(16_B, 4_KiB),
            "most payload of a packet that switches reduce or multicast; an entry holds as much");
    v.field("sm_payload", sm_payload, sim::between(16_B, 4_KiB),
            "the same of packets that SMs ask for and store, at most `payload`");
    v.field("request", request, sim::between(0_B, 256_B), "bytes on the wire of a load-reduce request");
    v.field("table_full", table_full, "what happens to a contribution that finds no room");
    v.field("patience", patience, sim::between(1_ns, 1'000'000'000_ns),
            "a contribution that has waited this long for room goes to its home GPU after all, so that ranks "
            "that send in different orders cannot block each other forever");
    v.field("remind_after", remind_after, sim::between(1_ns, 1'000'000'000_ns),
            "a home GPU that has waited this long for the rest of a sum asks the switches for it; the time "
            "doubles with each request");
    v.field("sharing", sharing, "how collectives under way share a table");
    v.field("accumulate", accumulate, "in which type sums are kept");
    v.field("order", order, "in which order contributions are added");
    v.field("levels", levels, "which switches of a multi-level fabric sum");
    v.field("wave", wave, sim::between(0_B, 1024_MiB),
            "a GPU pushes at most `waves` waves of this many bytes ahead of the results; 0: no waves");
    v.field("waves", waves, sim::between(1, 4096), "waves under way at a time");
  }
};

}  // namespace infold::inc
