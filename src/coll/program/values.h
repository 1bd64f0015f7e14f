// The memory of functional mode: every rank's input and output vectors, which are generated and checked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/dtype.h"
#include "coll/program/collective.h"
#include "coll/program/tokens.h"
#include "sim/units.h"

namespace infold::coll {

class Values {
 public:
  /// The bytes of simulator memory that a checked run of this size needs at most.
  static std::int64_t memory_need(Collective c, sim::Bytes bytes, int ranks, sim::Bytes scratch = {});

  /// What to fill and compare. Inputs are whole numbers that make every result exact in any order, so that
  /// equality can be demanded. With `real` they are not, and results are compared within what rounding
  /// allows.
  struct Kind {
    DataType type = DataType::kFp32;
    ReduceOp op = ReduceOp::kSum;
    bool real = false;
    int root = 0;
    sim::Bytes scratch = {};    ///< memory beyond its output that the program needs on every rank
    ExpertTuning experts = {};  ///< of dispatch and combine
  };
  Values(Collective collective, sim::Bytes bytes, int ranks, const Kind& kind, std::uint64_t seed);
  Values(Collective collective, sim::Bytes bytes, int ranks, DataType type, ReduceOp op, std::uint64_t seed)
      : Values(collective, bytes, ranks, Kind{.type = type, .op = op}, seed) {}

  DataType type() const { return type_; }
  ReduceOp op() const { return op_; }
  int ranks() const { return ranks_; }
  std::span<std::byte> input(int rank) { return inputs_[static_cast<std::size_t>(rank)]; }
  /// The rank's output, followed by its scratch memory.
  std::span<std::byte> memory(int rank) { return outputs_[static_cast<std::size_t>(rank)]; }
  std::span<std::byte> output(int rank) {
    return memory(rank).first(output_elements_ * static_cast<std::size_t>(size_of(type_).count()));
  }

  /// The number of elements, over all ranks, that are not what they must be. Sums over more ranks than a type
  /// can count (bf16: 256) get a tolerance, as real inputs do.
  std::uint64_t wrong() const;
  /// How far sums and averages are from the exact ones, relative to the sum of the magnitudes that they are
  /// made of.
  struct Error {
    double largest = 0;
    double mean = 0;
  };
  /// Requires: the collective reduces by sum or average, and the elements are not integers.
  Error error() const;

 private:
  /// What an output element must be, within a tolerance that is 0 unless rounding depends on the order.
  struct Expected {
    double value;
    double tolerance;
  };
  Expected expected(int rank, std::size_t element) const;
  Expected expected_integer(std::size_t at) const;
  Expected expected_real(std::size_t at) const;
  /// The exact sum or average, and the sum or average of magnitudes.
  struct Exact {
    double value = 0;
    double magnitude = 0;
  };
  Exact exact(std::size_t at) const;
  double input_at(int rank, std::size_t element) const;
  /// Whether a rank's element is part of a sum.
  bool counts(int rank, std::size_t at) const;
  /// Whose token, and which, lies at an element of the larger vector of dispatch or combine.
  struct TokenAt {
    int whose = 0;
    int token = 0;
  };
  TokenAt token_at(std::size_t at) const;

  Collective collective_;
  int ranks_;
  DataType type_;
  ReduceOp op_;
  bool real_;
  int root_;
  Tokens tokens_;
  std::size_t output_elements_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::vector<std::byte>> outputs_;
};

}  // namespace infold::coll
