// Counts flip-flops, multiplexers, comparators and adders of rtl/src, module by module.
#include "inc/unit_area.h"

#include <algorithm>
#include <bit>

namespace infold::inc {

namespace {

// Gates in transistors / 4, as Yosys' "stat -tech cmos" has them.
constexpr double kFlop = 4;
constexpr double kMux = 3;
constexpr double kXor = 3;
constexpr double kNand = 1;
constexpr double kAnd = 1.5;
constexpr double kFullAdder = 2 * kXor + 3 * kNand;
/// A carry that looks ahead, per bit: propagate and generate, and two levels of combining on average.
constexpr double kCarry = 4 * kAnd;

// Widths in rtl/src/inc_types.sv.
constexpr int kKey = 44;
constexpr int kHeader = 117;
constexpr int kEntry = 104;
constexpr int kOutHeader = 90;
constexpr int kCounted = 35;  // of an entry: what every contribution changes
constexpr int kCounters = 6 * 32;

int bits_for(int values) {
  return values <= 1 ? 1 : static_cast<int>(std::bit_width(static_cast<unsigned>(values - 1)));
}

/// The lowest of several requests: x & ~(x - 1).
double lowest_of(int requests) {
  return requests * (kCarry + kXor + kAnd);
}
/// One of many words, selected by one bit each.
double select(int words, int width) {
  return static_cast<double>(words) * width * 2 * kNand;
}
double equal(int width) {
  return width * (kXor + kNand);
}
double counter(int width) {
  return width * (kFlop + kMux + kCarry + kXor);
}

/// What is written to a memory is gated by its write signal.
double gated(int width) {
  return width * kAnd;
}
/// A queue in a memory: two pointers, a count.
double fifo(int depth, int width) {
  return 3 * counter(bits_for(depth) + 1) + depth * kNand + gated(width);
}

/// rtl/src/fp_add.sv
double adder(int exponent, int mantissa) {
  const int word = 1 + exponent + mantissa;
  const int wide = mantissa + 4;
  const int levels = bits_for(wide);
  const double align = word * (kCarry + kXor) + 2 * word * kMux   // which is larger, and swapping
                       + 4 * exponent * kAnd                      // is one zero, infinite, or no number
                       + exponent * kFullAdder                    // how far apart
                       + 2 * wide * levels * kMux + wide * kAnd;  // aligned, and what is lost
  const double add = 2 * (wide + 1) * (kCarry + 2 * kXor);        // sum and difference
  const double normalise = lowest_of(wide + 1) + (wide + 1) * levels * kNand + 3 * exponent * kFullAdder +
                           wide * levels * kMux + wide * kMux;
  const double round = word * (kXor + kAnd) + 2 * word * kNand;
  const int flops = (exponent + 2 * wide + 4) + (exponent + wide + 1 + 4) + (exponent + 1 + wide + 3) + word;
  return align + add + normalise + round + flops * kFlop;
}

UnitArea::Part table(const UnitShape& s) {
  const int slots = s.entries + s.results;
  const int slot = bits_for(slots);
  const int width = kEntry + slot + s.ports;
  const double place = width * (kFlop + 2 * kMux) + kCounted * kMux + equal(kKey) + equal(slot) +
                       2 * (kCarry + kXor + kAnd) + 6 * kAnd;
  const double all = s.entries * place + select(s.entries, width);
  return {"table", all + fifo(s.entries, slot) + counter(bits_for(s.entries) + 1), 2LL * s.entries * slot};
}

UnitArea::Part alus(const UnitShape& s) {
  const int words = s.beat / 4;
  const int halves = s.beat / 2;
  const int bits = 8 * s.beat;
  const double fp32 = halves * adder(8, 23) + 2 * bits * kAnd            // a sum with nothing in it yet
                      + words * 16 * kMux + bits * (kCarry + kXor) / 2;  // which type, and rounding to bf16
  const double wire = words * adder(8, 23) + halves * adder(8, 7) + bits * kMux + 2 * bits * kAnd;
  const double lanes = s.in_fp32 ? fp32 : wire;
  const int slot = bits_for(s.entries + s.results);
  const int beats = bits_for(s.payload / s.beat);
  const int along = slot + beats + 2 + bits_for(kInputBuffers) + 10 + kKey;
  const double stages = 5 * along * kFlop + 5 * (equal(slot) + equal(beats));
  const std::int64_t queue = kInputBuffers * (along + 2LL);
  return {"ALUs", lanes + stages + fifo(kInputBuffers, along + 2), queue};
}

/// What decides: a timer, the entry and the packet that each action makes, the ranks in a sum.
double decisions(const UnitShape& s) {
  return counter(32) + 2 * kOutHeader * kMux + 4 * s.ports * kMux + 4 * s.ports * kAnd +
         kCounted * (kMux + kFullAdder) + 2 * equal(11) + 2 * kKey * kMux + counter(bits_for(s.results) + 1);
}

UnitArea::Part buffers(const UnitShape& s) {
  const int slots = s.entries + s.results;
  const int id = bits_for(kInputBuffers);
  const int wide = s.in_fp32 ? 2 : 1;
  const double waiting =
      kInputBuffers * ((kKey + id + 3) * (kFlop + 2 * kMux) + equal(kKey)) + 2 * lowest_of(kInputBuffers) +
      select(kInputBuffers, id) +
      kInputBuffers * (3 * 2 * kAnd + 6 * kNand + 4 * kAnd);       // among which, whether any, which changes
  const double registers = (2 * wide + 2) * 8.0 * s.beat * kFlop;  // what the memories have read
  const double free_slots = slots * (kFlop + kMux) + lowest_of(slots) + select(slots, bits_for(slots)) / 2;
  const std::int64_t bits = (8LL * s.payload * wide) * slots + 8LL * s.payload * kInputBuffers +
                            static_cast<std::int64_t>(kInputBuffers) * (kHeader + s.ports + id);
  const double writing = gated(8 * s.beat * (wide + 1) + kHeader + s.ports);
  return {"buffers", waiting + registers + free_slots + writing + fifo(kInputBuffers, id) + decisions(s),
          bits};
}

UnitArea::Part sender(const UnitShape& s) {
  const int jobs = kInputBuffers + s.results;
  const int place = bits_for(jobs);
  const int slot = bits_for(s.entries + s.results);
  const int id = bits_for(kInputBuffers);
  const int width = 2 + id + 2 + s.ports + place;
  const double list = jobs * (width * (kFlop + 3 * kMux) + s.ports * (2 * kAnd + kNand) + 2 * equal(id + 2)) +
                      2 * lowest_of(jobs) + select(jobs, s.ports + place) + lowest_of(jobs) +
                      jobs * (kFlop + kMux);
  const double round = 3.0 * (kOutHeader + s.ports + slot + id) * kFlop + 8.0 * s.beat * (kFlop + 2 * kMux);
  const double credits = s.ports * counter(4);
  const double counters = counter(kCounters) + equal(32) * 2;
  return {"sender",
          list + round + credits + counters + gated(1 + slot + id + kOutHeader) + fifo(s.results, slot),
          static_cast<std::int64_t>(jobs) * (1 + slot + id + kOutHeader) +
              static_cast<std::int64_t>(s.results) * slot};
}

}  // namespace

double UnitArea::gates() const {
  double sum = 0;
  for (const Part& p : parts) sum += p.gates;
  return sum;
}

sim::Bytes UnitArea::sram() const {
  std::int64_t bits = 0;
  for (const Part& p : parts) bits += p.sram_bits;
  return sim::Bytes{(bits + 7) / 8};
}

UnitShape shape_of(const IncSpec& spec, int ports) {
  UnitShape s;
  const std::int64_t held = spec.table_bytes.count() / spec.payload.count();
  s.entries = static_cast<int>(std::max<std::int64_t>(
      1, spec.table_entries == 0 ? held : std::min<std::int64_t>(held, spec.table_entries)));
  s.results = static_cast<int>(std::max<std::int64_t>(1, spec.result_buffer.count() / spec.payload.count()));
  s.payload = static_cast<int>(spec.payload.count());
  s.ports = std::max(1, ports);
  double rate = spec.alu_rate.in_gbps();
  if (spec.switch_alu_rate > sim::Bandwidth{})
    rate = std::min(rate, spec.switch_alu_rate.in_gbps() / static_cast<double>(s.ports));
  s.beat = 4;
  while (s.beat < s.payload && s.beat * kBeatOf16.in_gbps() < rate * 16) s.beat *= 2;
  s.in_fp32 = spec.accumulate == Accumulate::kFp32;
  return s;
}

UnitArea area_of(const UnitShape& shape) {
  return {{table(shape), alus(shape), buffers(shape), sender(shape)}};
}

}  // namespace infold::inc
