// Tensors as caches see them: cut into blocks of 64 x 64 elements that every kernel names in the same way, so
// that the next kernel finds what one kernel left in L2, however it walks the tensor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/units.h"

namespace infold::gpu {

/// The block of a tensor that one tag of L2 stands for.
struct Block {
  std::uint64_t key = 0;
  std::uint32_t bytes = 0;  ///< size of the whole block
};

/// A matrix of `rows` x `cols`. Images are matrices of pixels x channels.
class Tensor {
 public:
  static constexpr std::int64_t kSide = 64;
  static constexpr std::int64_t kBlockElements = kSide * kSide;

  Tensor() = default;
  Tensor(std::uint64_t first_key, std::int64_t rows, std::int64_t cols, int element_bytes)
      : first_(first_key), rows_(rows), cols_(cols), element_(element_bytes) {
    // Blocks of a narrow tensor are as large as others, but longer instead of wider.
    block_cols_ = std::min(cols, kSide);
    row_shift_ =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(kBlockElements / block_cols_))) - 1;
    block_rows_ = std::int64_t{1} << row_shift_;
    across_ = (cols + block_cols_ - 1) / block_cols_;
    down_ = (rows + block_rows_ - 1) / block_rows_;
    even_ = cols % block_cols_ == 0 && rows % block_rows_ == 0;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  int element_bytes() const { return element_; }
  sim::Bytes bytes() const { return sim::Bytes{rows_ * cols_ * element_}; }
  std::int64_t block_rows() const { return block_rows_; }
  std::int64_t block_cols() const { return block_cols_; }
  std::int64_t blocks() const { return across_ * down_; }
  std::int64_t down() const { return down_; }
  std::int64_t across() const { return across_; }

  /// The position in the grid of blocks that a row or a column falls into.
  std::int64_t down_of(std::int64_t row) const { return row >> row_shift_; }
  std::int64_t across_of(std::int64_t col) const { return col >> kColShift; }

  /// The block at a position in the grid of blocks. Blocks at the edges are smaller.
  Block at(std::int64_t down, std::int64_t across) const {
    if (even_) return whole(down * across_ + across);
    const std::int64_t h = std::min(block_rows_, rows_ - down * block_rows_);
    const std::int64_t w = std::min(block_cols_, cols_ - across * block_cols_);
    return {first_ + static_cast<std::uint64_t>(down * across_ + across),
            static_cast<std::uint32_t>(h * w * element_)};
  }
  /// The block at a position in memory.
  Block at(std::int64_t i) const { return even_ ? whole(i) : at(i / across_, i % across_); }

 private:
  static constexpr int kColShift = 6;
  static_assert(kSide == 1 << kColShift);
  Block whole(std::int64_t i) const {
    return {first_ + static_cast<std::uint64_t>(i),
            static_cast<std::uint32_t>(block_rows_ * block_cols_ * element_)};
  }

  std::uint64_t first_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 1;
  int element_ = 1;
  int row_shift_ = 0;
  bool even_ = false;
  std::int64_t block_rows_ = kSide;
  std::int64_t block_cols_ = 1;
  std::int64_t across_ = 0;
  std::int64_t down_ = 0;
};

/// Assigns names to blocks; there is one per GPU. No two tensors share a block.
class AddressSpace {
 public:
  /// Requires: rows, cols and element_bytes are positive.
  Tensor tensor(std::int64_t rows, std::int64_t cols, int element_bytes) {
    const Tensor t(next_, rows, cols, element_bytes);
    next_ += static_cast<std::uint64_t>(t.blocks());
    return t;
  }
  /// Plain bytes, in consecutive blocks of kBufferBlock. Returns the key of the first block.
  static constexpr std::int64_t kBufferBlock = 8192;
  std::uint64_t buffer(sim::Bytes bytes) {
    const std::uint64_t first = next_;
    next_ += static_cast<std::uint64_t>((bytes.count() + kBufferBlock - 1) / kBufferBlock);
    return first;
  }

 private:
  std::uint64_t next_ = 1;
};

}  // namespace infold::gpu
