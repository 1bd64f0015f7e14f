// Kernels as plain descriptions: what each computes, and the tensors that it reads and writes. They involve
// no GPU yet.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace infold::work {

using TensorId = int;

struct TensorSpec {
  enum class Role : std::uint8_t {
    kPassing,    ///< lives from its first write to its last read
    kWeight,     ///< lives for the whole step, as do the next two
    kGradient,   ///< gradient of a parameter
    kOptimizer,  ///< state of the optimizer
    kPart,       ///< a part of another tensor, in the memory of that tensor
  };
  Role role = Role::kPassing;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  int element_bytes = 2;
  std::int64_t bytes() const { return rows * cols * element_bytes; }
};

/// out[m x n] = left x right. Each operand lies in memory as rows of its outer dimension (m or n), or, with
/// `by_k`, as rows of k.
struct MatMul {
  TensorId left = 0;
  bool left_by_k = false;
  TensorId right = 0;
  bool right_by_k = false;
  TensorId out = 0;
  /// The number of products of one shape in this kernel; the rows of each tensor are divided evenly among
  /// them.
  int groups = 1;
  bool of_weights = false;  ///< it gives the gradient of a weight
};

/// The size of what one of a product's groups computes.
struct ProductSize {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};
ProductSize size_of(const std::vector<TensorSpec>& tensors, const MatMul& product);
/// The operations of a product, all groups together; a multiply-add is two.
double flops_of(const std::vector<TensorSpec>& tensors, const MatMul& product);

struct Convolve {
  enum class Way : std::uint8_t { kForward, kDataGradient, kFilterGradient };
  Way way = Way::kForward;
  std::int64_t height = 1, width = 1, channels = 1, filters = 1, size = 1, stride = 1, pad = 0;
  TensorId in = 0, out = 0, filter = 0;  ///< or their gradients
};

struct Attend {
  bool backward = false;
  bool causal = false;
  std::int64_t sequence = 1, heads = 1, head_size = 1;
  std::int64_t kv_heads = 1, value_size = 1;
  std::int64_t keys = 0;  ///< of a sequence that GPUs share; 0: as many as queries (gpu::Attention)
  TensorId query = 0, key = 0, value = 0, out = 0;
  TensorId d_query = 0, d_key = 0, d_value = 0, d_out = 0;
};

struct Streaming {
  struct Pass {
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
    double ops_per_element = 1;
    struct Rows {
      TensorId tensor = 0;
      std::int64_t rows = 0;
    };
    std::vector<Rows> some = {};  ///< tensors of which it touches so many rows, and not all
  };
  std::vector<Pass> passes;  ///< if there are several: one kernel whose workgroups all stay until the end
};

using Computation = std::variant<MatMul, Convolve, Attend, Streaming>;

/// The tensors that a kernel reads, and those it writes.
struct Touched {
  std::vector<TensorId> reads;
  std::vector<TensorId> writes;
};
Touched touched(const Computation& what);

}  // namespace infold::work
