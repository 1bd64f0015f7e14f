// The Verilated reduction unit with inputs and outputs as values: headers instead of words of bits, and one
// call per clock cycle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace infold::rtl {

/// The kinds of rtl/src/inc_types.sv.
enum class Kind : std::uint8_t { kReduceWrite, kLoadReduce, kReply, kMulticast, kResult, kPartial };
enum class Open : std::uint8_t { kNever, kIfRoom, kAlways };

struct Header {
  Kind kind = Kind::kReduceWrite;
  std::uint32_t region = 0;
  std::uint32_t offset = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t bytes = 0;
  std::uint32_t from = 0;
  bool from_gpu = true;
  bool bf16 = false;
  bool sums = true;
  Open open = Open::kAlways;
  std::uint32_t expected = 0;
  Kind result_kind = Kind::kResult;
  std::uint32_t home = 0;
  bool home_here = true;
  std::uint64_t targets = 0;
};

/// Fields of a packed struct, from the lowest bit on.
class Bits {
 public:
  void put(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i, ++at_)
      words[at_ / 32] |= static_cast<std::uint32_t>(value >> i & 1) << (at_ % 32);
  }
  std::uint64_t get(unsigned width) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i, ++at_)
      value |= static_cast<std::uint64_t>(words[at_ / 32] >> (at_ % 32) & 1) << i;
    return value;
  }
  std::array<std::uint32_t, 8> words{};

 private:
  unsigned at_ = 0;
};

/// Ports of up to 64 bits are integers, wider ones are arrays of words.
template <class Port>
void write_port(Port& port, const std::uint32_t* words, std::size_t count) {
  if constexpr (std::is_integral_v<Port>) {
    port = static_cast<Port>(words[0]);
  } else {
    for (std::size_t i = 0; i < count; ++i) port[i] = words[i];
  }
}
template <class Port>
void read_port(const Port& port, std::uint32_t* words, std::size_t count) {
  if constexpr (std::is_integral_v<Port>) {
    words[0] = static_cast<std::uint32_t>(port);
  } else {
    for (std::size_t i = 0; i < count; ++i) words[i] = port[i];
  }
}

template <class Model, unsigned kBeat>
class Dut {
 public:
  static constexpr unsigned kBeatBytes = kBeat;
  Model m;

  void reset() {
    m.rst = 1;
    m.in_valid = 0;
    m.reminder = 0;
    m.credit = 0;
    for (int i = 0; i < 4; ++i) clock();
    m.rst = 0;
  }
  /// Shows the inputs; outputs then belong to this cycle.
  void settle() {
    m.clk = 0;
    m.eval();
  }
  void clock() {
    settle();
    m.clk = 1;
    m.eval();
  }
  void offer(const Header& h, const std::byte* data, unsigned beat) {
    Bits b;
    b.put(h.home_here ? 1 : 0, 1);
    b.put(h.home, 8);
    b.put(static_cast<unsigned>(h.result_kind), 3);
    b.put(h.expected, 11);
    b.put(static_cast<unsigned>(h.open), 2);
    b.put(h.sums ? 1 : 0, 1);
    b.put(h.bf16 ? 1 : 0, 1);
    b.put(h.from_gpu ? 1 : 0, 1);
    b.put(h.from, 8);
    b.put(h.bytes, 13);
    b.put(h.count, 11);
    b.put(h.first, 10);
    b.put(h.offset, 32);
    b.put(h.region, 12);
    b.put(static_cast<unsigned>(h.kind), 3);
    write_port(m.in_header, b.words.data(), 4);
    m.in_targets = static_cast<decltype(m.in_targets + 0)>(h.targets);
    std::array<std::uint32_t, kBeat / 4> words{};
    for (unsigned i = 0; i < kBeat && beat * kBeat + i < h.bytes; ++i)
      words[i / 4] |= std::to_integer<std::uint32_t>(data[beat * kBeat + i]) << (8 * (i % 4));
    write_port(m.in_data, words.data(), words.size());
    m.in_valid = 1;
    m.in_last = beat + 1 >= beats(h.bytes) ? 1 : 0;
  }
  static unsigned beats(std::uint32_t bytes) { return bytes == 0 ? 1 : (bytes + kBeat - 1) / kBeat; }
  static std::uint64_t key(std::uint32_t region, std::uint32_t offset) {
    return static_cast<std::uint64_t>(region) << 32 | offset;
  }
  Header out() {
    Bits b;
    read_port(m.out_header, b.words.data(), 3);
    Header h;
    h.from = static_cast<std::uint32_t>(b.get(8));
    h.bf16 = b.get(1) != 0;
    h.bytes = static_cast<std::uint32_t>(b.get(13));
    h.count = static_cast<std::uint32_t>(b.get(11));
    h.first = static_cast<std::uint32_t>(b.get(10));
    h.offset = static_cast<std::uint32_t>(b.get(32));
    h.region = static_cast<std::uint32_t>(b.get(12));
    h.kind = static_cast<Kind>(b.get(3));
    h.targets = m.out_ports;
    return h;
  }
  void append_data(std::vector<std::byte>& to) {
    std::array<std::uint32_t, kBeat / 4> words{};
    read_port(m.out_data, words.data(), words.size());
    for (unsigned i = 0; i < kBeat; ++i) to.push_back(static_cast<std::byte>(words[i / 4] >> (8 * (i % 4))));
  }
};

}  // namespace infold::rtl
