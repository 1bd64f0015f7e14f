// In which type a sum is kept, and in which order contributions are added to it.
#pragma once

#include <span>
#include <vector>

#include "inc/inc_spec.h"
#include "sim/dtype.h"

namespace infold::inc {

/// Integers have no wider type to be kept in.
constexpr sim::DataType accumulator_type(Accumulate policy, sim::DataType wire) {
  return policy == Accumulate::kFp32 && wire != sim::DataType::kInt32 ? sim::DataType::kFp32 : wire;
}

/// The values of a sum, in functional mode.
class Sum {
 public:
  void clear() { values_.clear(); }
  void add(Accumulate policy, sim::DataType wire, sim::ReduceOp op, std::span<const std::byte> values) {
    const sim::DataType kept = accumulator_type(policy, wire);
    widened_.resize(values.size() / width(wire) * width(kept));
    convert(wire, values, kept, widened_);
    if (values_.empty()) {
      values_.swap(widened_);
    } else {
      fold(kept, op, values_, widened_);
    }
  }
  /// Rounds to the type of the wire.
  void read(Accumulate policy, sim::DataType wire, std::vector<std::byte>& out) const {
    const sim::DataType kept = accumulator_type(policy, wire);
    out.resize(values_.size() / width(kept) * width(wire));
    convert(kept, values_, wire, out);
  }

 private:
  static std::size_t width(sim::DataType t) { return static_cast<std::size_t>(sim::size_of(t).count()); }
  static void convert(sim::DataType from, std::span<const std::byte> in, sim::DataType to,
                      std::span<std::byte> out) {
    for (std::size_t i = 0; i < in.size() / width(from); ++i) store(to, out, i, load(from, in, i));
  }
  std::vector<std::byte> values_;
  std::vector<std::byte> widened_;
};

/// Whether the contribution of these ranks may be added now. `turn` is the lowest rank that is not added yet.
constexpr bool has_turn(SumOrder policy, std::uint16_t first_rank, std::uint16_t turn) {
  return policy == SumOrder::kArrival || first_rank == turn;
}

}  // namespace infold::inc
