// Generates inputs, and the reference that results are checked against.
#include "coll/program/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/random.h"

namespace infold::coll {

namespace {
/// Outputs start as a pattern that no right answer has, so that a byte that is never written is noticed.
constexpr std::byte kUntouched{0xa5};

/// A type holds every whole number up to this one, so sums that stay below it are exact in any order.
double whole_numbers(DataType type) {
  return 1 / rounding_of(type);
}

/// How large the whole numbers may be that this many ranks sum up.
std::uint64_t largest_summand(DataType type, int ranks) {
  if (type == DataType::kInt32) return 1000;  // it wraps
  return static_cast<std::uint64_t>(std::clamp(std::floor(whole_numbers(type) / ranks), 1.0, 1000.0));
}

/// `most` is largest_summand(). Inputs are such that results are exact in any order of operations, and that
/// no contribution is neutral: one that is lost or counted twice changes the result, however coarse the type
/// and however many the ranks.
double generate(DataType type, ReduceOp op, int ranks, std::uint64_t most, std::uint64_t random) {
  const auto up_to = [&](std::uint64_t n) { return static_cast<double>(random / 2 % n); };
  const double sign = random % 2 == 0 ? 1 : -1;
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return sign * (1 + up_to(most));
    case ReduceOp::kProd: {
      if (type == DataType::kInt32) return sign * (3 + 2 * up_to(4));  // odd: wrapping loses nothing
      // Mostly -1, and now and then 2 or 1/2, so rarely that the product of many ranks stays within the type.
      const double turn = up_to(std::max<std::uint64_t>(8, static_cast<std::uint64_t>(ranks)));
      return turn == 0 ? 2 : turn == 1 ? 0.5 : -1;
    }
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      break;
  }
  const auto small = static_cast<double>(random % 2001) - 1000;  // -1000 .. 1000
  return type == DataType::kInt32 ? small : small / 1000;
}

/// Numbers whose results depend on the order: they have both signs and several magnitudes, or are factors
/// about one.
double generate_real(ReduceOp op, int ranks, std::uint64_t random) {
  const double sign = random % 2 == 0 ? 1 : -1;
  const double mantissa = 1 + static_cast<double>(random >> 12) * 0x1p-52;  // 1 .. 2
  const int magnitude = static_cast<int>(random / 2 % 8);
  if (op != ReduceOp::kProd) return sign * std::ldexp(mantissa, -magnitude);
  // Factors are so near to one that the product of many ranks stays within the type.
  return sign * std::pow(magnitude % 2 == 0 ? mantissa : mantissa / 2, 4.0 / std::max(4, ranks));
}

double rounded(DataType type, double value) {
  std::array<std::byte, 4> memory{};
  store(type, memory, 0, value);
  return load(type, memory, 0);
}
}  // namespace

std::int64_t Values::memory_need(Collective c, sim::Bytes bytes, int ranks, sim::Bytes scratch) {
  const BufferSizes sizes = buffer_sizes(c, bytes, ranks);
  // Inputs and outputs, and as much again in slots and in flight.
  return 2 * ranks * (sizes.input + sizes.output + scratch).count();
}

Values::Values(Collective collective, sim::Bytes bytes, int ranks, const Kind& kind, std::uint64_t seed)
    : collective_(collective),
      ranks_(ranks),
      type_(kind.type),
      op_(kind.op),
      real_(kind.real && kind.type != DataType::kInt32),
      root_(kind.root),
      tokens_(kind.experts, bytes, ranks) {
  const BufferSizes sizes = buffer_sizes(collective, bytes, ranks);
  const auto element = static_cast<std::size_t>(size_of(type_).count());
  output_elements_ = static_cast<std::size_t>(sizes.output.count()) / element;
  const std::uint64_t most = largest_summand(type_, ranks);
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::byte> in(static_cast<std::size_t>(sizes.input.count()));
    const std::uint64_t stream = sim::mix(seed + static_cast<std::uint64_t>(r));
    for (std::size_t i = 0; i < in.size() / element; ++i) {
      const std::uint64_t random = sim::mix(stream + i);
      store(type_, in, i,
            real_ ? generate_real(op_, ranks, random) : generate(type_, op_, ranks, most, random));
    }
    inputs_.push_back(std::move(in));
    outputs_.emplace_back(static_cast<std::size_t>((sizes.output + kind.scratch).count()), kUntouched);
  }
}

double Values::input_at(int rank, std::size_t element) const {
  return load(type_, inputs_[static_cast<std::size_t>(rank)], element);
}

std::uint64_t Values::wrong() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < output_elements_; ++i) {
    // In most collectives every rank must have the same, so it is computed only once.
    const bool differ = (has_shares(collective_) && collective_ != Collective::kAllGather) ||
                        collective_ == Collective::kSendRecv;
    // The outputs of the other ranks do not matter.
    const bool one = collective_ == Collective::kReduce || collective_ == Collective::kSend;
    const int first = !one ? 0 : collective_ == Collective::kSend ? receiver_of(root_, ranks_) : root_;
    Expected expected = this->expected(0, i);
    for (int r = first; r < (one ? first + 1 : ranks_); ++r) {
      if (r > 0 && differ) expected = this->expected(r, i);
      const double got = load(type_, outputs_[static_cast<std::size_t>(r)], i);
      count += std::fabs(got - expected.value) <= expected.tolerance ? 0 : 1;
    }
  }
  return count;
}

Values::Exact Values::exact(std::size_t at) const {
  Exact e;
  for (int r = 0; r < ranks_; ++r) {
    if (!counts(r, at)) continue;
    const double x = input_at(r, at);
    e.value += x;
    e.magnitude += std::fabs(x);
  }
  if (op_ == ReduceOp::kAvg) {
    e.value /= ranks_;
    e.magnitude /= ranks_;
  }
  return e;
}

Values::Error Values::error() const {
  Error error;
  std::uint64_t count = 0;
  const bool scatter = collective_ == Collective::kReduceScatter || collective_ == Collective::kCombine;
  const bool one = collective_ == Collective::kReduce;
  for (std::size_t i = 0; i < output_elements_; ++i) {
    for (int r = one ? root_ : 0; r < (one ? root_ + 1 : ranks_); ++r) {
      const Exact e = exact(scatter ? static_cast<std::size_t>(r) * output_elements_ + i : i);
      if (e.magnitude == 0) continue;
      const double off =
          std::fabs(load(type_, outputs_[static_cast<std::size_t>(r)], i) - e.value) / e.magnitude;
      error.largest = std::max(error.largest, off);
      error.mean += off;
      ++count;
    }
  }
  if (count > 0) error.mean /= static_cast<double>(count);
  return error;
}

Values::TokenAt Values::token_at(std::size_t at) const {
  const auto byte = static_cast<std::int64_t>(at) * size_of(type_).count();
  const std::int64_t share = tokens_.share().count();
  return {static_cast<int>(byte / share), tokens_.at(byte % share)};
}

bool Values::counts(int rank, std::size_t at) const {
  if (collective_ != Collective::kCombine) return true;
  const TokenAt t = token_at(at);
  return tokens_.goes_to(t.whose, t.token, rank);
}

Values::Expected Values::expected(int rank, std::size_t element) const {
  if (collective_ == Collective::kDispatch) {
    const TokenAt t = token_at(element);
    const std::size_t share = output_elements_ / static_cast<std::size_t>(ranks_);
    if (tokens_.goes_to(t.whose, t.token, rank)) return {input_at(t.whose, element % share), 0};
    return {0, std::numeric_limits<double>::infinity()};  // nothing is promised of other tokens' places
  }
  if (collective_ == Collective::kBroadcast || collective_ == Collective::kSend)
    return {input_at(root_, element), 0};
  if (collective_ == Collective::kSendRecv) return {input_at((rank + ranks_ - 1) % ranks_, element), 0};
  if (collective_ == Collective::kAllGather || collective_ == Collective::kAllToAll) {
    const std::size_t share = output_elements_ / static_cast<std::size_t>(ranks_);
    const std::size_t mine =
        collective_ == Collective::kAllToAll ? share * static_cast<std::size_t>(rank) : 0;
    return {input_at(static_cast<int>(element / share), mine + element % share), 0};
  }
  const std::size_t at =
      has_shares(collective_) ? static_cast<std::size_t>(rank) * output_elements_ + element : element;
  return type_ == DataType::kInt32 ? expected_integer(at) : expected_real(at);
}

/// The exact result, which wraps as the machine's integers do.
Values::Expected Values::expected_integer(std::size_t at) const {
  std::array<std::byte, 4> sum{};
  int first = 0;
  while (!counts(first, at)) ++first;
  store(type_, sum, 0, input_at(first, at));
  for (int r = first + 1; r < ranks_; ++r) {
    if (!counts(r, at)) continue;
    std::array<std::byte, 4> next{};
    store(type_, next, 0, input_at(r, at));
    fold(type_, op_, sum, next);
  }
  if (op_ == ReduceOp::kAvg) divide(type_, sum, ranks_);
  return {load(type_, sum, 0), 0};
}

Values::Expected Values::expected_real(std::size_t at) const {
  int first = 0;
  while (!counts(first, at)) ++first;
  double exact = input_at(first, at);
  double magnitude = std::fabs(exact);  // rounding errors are relative to this
  for (int r = first + 1; r < ranks_; ++r) {
    if (!counts(r, at)) continue;
    const double x = input_at(r, at);
    switch (op_) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
        exact += x;
        magnitude += std::fabs(x);
        break;
      case ReduceOp::kProd:
        exact *= x;
        break;
      case ReduceOp::kMin:
        exact = std::fmin(exact, x);
        break;
      case ReduceOp::kMax:
        exact = std::fmax(exact, x);
        break;
    }
  }
  if (op_ == ReduceOp::kAvg) exact /= ranks_;
  const bool sums = op_ == ReduceOp::kSum || op_ == ReduceOp::kAvg;
  const double unit = rounding_of(type_);
  if (real_ && op_ == ReduceOp::kProd) {
    // There are ranks - 1 roundings, each of one factor 1 + u at most, whatever the order.
    return {exact, std::fabs(exact) * (std::pow(1 + unit, ranks_ - 1) - 1) * 1.0001};
  }
  if (!sums || (!real_ && ranks_ <= whole_numbers(type_))) return {rounded(type_, exact), 0};
  // There are ranks - 1 roundings in any order (each relative to a partial sum, none of which exceeds the sum
  // of magnitudes by more than the roundings before it), and one more for an average.
  double bound = (std::pow(1 + unit, ranks_ - 1) - 1) * magnitude * 1.0001;
  if (op_ == ReduceOp::kAvg) bound = bound / ranks_ + unit * (std::fabs(exact) + bound / ranks_);
  return {exact, bound};
}

}  // namespace infold::coll
