// Carries a program out without a machine or a clock: a value is where in the vector it belongs and the set
// of ranks that contributed to it, so that a byte lost, counted twice or put in the wrong place can not hide.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "coll/program.h"

namespace infold::coll {

class Symbolic {
 public:
  explicit Symbolic(const Program& program)
      : program_(program), sizes_(buffer_sizes(program.collective, program.bytes, program.ranks)) {
    outputs_.assign(count(program.ranks), std::vector<Value>(count(sizes_.output.count())));
    next_.assign(program.lists.size(), 0);
  }

  /// What is wrong with the program, or empty. Steps run in any order that their messages allow.
  std::string flaw() {
    for (bool moved = true; moved && flaw_.empty();) {
      moved = false;
      for (int rank = 0; rank < program_.ranks; ++rank) {
        for (int channel = 0; channel < program_.channels; ++channel) {
          while (flaw_.empty() && try_step(rank, channel)) moved = true;
        }
      }
    }
    if (flaw_.empty()) check_end();
    return flaw_;
  }
  std::int64_t bytes_sent() const { return sent_; }

 private:
  struct Value {
    std::int64_t place = -1;         // in the vector; -1: nothing
    std::uint32_t contributors = 0;  // a bit a rank
    bool operator==(const Value&) const = default;
  };
  using Message = std::vector<Value>;

  static std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }

  Value input(int rank, std::int64_t at) const {
    const std::int64_t share =
        program_.collective == Collective::kAllGather ? sizes_.input.count() * rank : 0;
    return {share + at, 1u << rank};
  }

  bool try_step(int rank, int channel) {
    const auto list = count(rank) * count(program_.channels) + count(channel);
    const auto& steps = program_.steps(rank, channel);
    if (next_[list] == steps.size()) return false;
    const Step& s = steps[next_[list]];
    Message value(count(s.bytes.count()));
    if (s.bytes.count() <= 0) return fail("an empty step", rank, channel);
    if (s.uses_input && s.input_offset.count() + s.bytes.count() > sizes_.input.count()) {
      return fail("reads beyond the input", rank, channel);
    }
    if (s.receives()) {
      auto& wire = wires_[{s.from[0], rank, channel}];
      if (wire.empty()) return false;
      if (wire.front().size() != value.size())
        return fail("receives another size than was sent", rank, channel);
      value = std::move(wire.front());
      wire.pop_front();
    }
    for (std::size_t i = 0; s.uses_input && i < value.size(); ++i) {
      const Value mine = input(rank, s.input_offset.count() + static_cast<std::int64_t>(i));
      if (!s.receives()) {
        value[i] = mine;
      } else {
        if (value[i].place != mine.place) return fail("folds bytes of different places", rank, channel);
        if ((value[i].contributors & mine.contributors) != 0)
          return fail("counts a rank twice", rank, channel);
        value[i].contributors |= mine.contributors;
      }
    }
    if (s.writes_output) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const std::size_t at = count(s.output_offset.count()) + i;
        if (at >= outputs_[count(rank)].size()) return fail("writes beyond the output", rank, channel);
        Value& out = outputs_[count(rank)][at];
        if (out.place != -1) return fail("writes a byte twice", rank, channel);
        out = value[i];
      }
    }
    if (s.sends()) {
      sent_ += s.bytes.count();
      wires_[{rank, s.to[0], channel}].push_back(std::move(value));
    }
    ++next_[list];
    return true;
  }

  void check_end() {
    for (std::size_t list = 0; list < program_.lists.size(); ++list) {
      if (next_[list] != program_.lists[list].size())
        flaw_ = "a step never gets its data, list " + std::to_string(list);
    }
    for (const auto& [ends, wire] : wires_) {
      if (!wire.empty()) flaw_ = "something sent is never received";
    }
    const std::uint32_t all = program_.ranks == 32 ? ~0u : (1u << program_.ranks) - 1;
    for (int rank = 0; rank < program_.ranks && flaw_.empty(); ++rank) {
      for (std::size_t i = 0; i < outputs_[count(rank)].size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        Value expected{at, all};
        if (program_.collective == Collective::kReduceScatter)
          expected.place = sizes_.output.count() * rank + at;
        if (program_.collective == Collective::kAllGather) {
          expected.contributors = 1u << (at / sizes_.input.count());
        }
        if (outputs_[count(rank)][i] == expected) continue;
        flaw_ = "rank " + std::to_string(rank) + " has the wrong byte " + std::to_string(i);
        return;
      }
    }
  }

  bool fail(const std::string& why, int rank, int channel) {
    flaw_ = "rank " + std::to_string(rank) + " channel " + std::to_string(channel) + " " + why;
    return false;
  }

  const Program& program_;
  BufferSizes sizes_;
  std::vector<std::vector<Value>> outputs_;
  std::vector<std::size_t> next_;
  std::map<std::tuple<int, int, int>, std::deque<Message>> wires_;  // (from, to, channel)
  std::int64_t sent_ = 0;
  std::string flaw_;
};

}  // namespace infold::coll
