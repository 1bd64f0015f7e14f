// Fused attention. In forward, a workgroup holds a tile of queries and walks along keys and values, without
// storing scores. In backward, it holds keys and values and walks along queries; the gradients of queries are
// added up in L2.
#pragma once

#include <cstdint>

#include "gpu/kernel/precision.h"
#include "gpu/kernel/tile_loop.h"
#include "gpu/memory/tensor.h"

namespace infold::gpu {

struct Attention {
  std::int64_t batch = 1;
  std::int64_t sequence = 512;
  std::int64_t heads = 16;
  std::int64_t head_size = 64;  ///< size of a head of queries and keys
  std::int64_t kv_heads =
      0;  ///< heads of keys and values, each used by equally many heads of queries; 0 means as many as heads
  std::int64_t value_size = 0;  ///< size of values and results; 0 means the head size
  Precision precision = Precision::kFp16;
  bool causal = false;  ///< a token sees only itself and those before: tiles beyond the diagonal are left out
  /// Keys and values of a sequence of which this GPU has `sequence` queries; 0: as many. With a causal mask
  /// half of the queries are the sequence's first and half are its last, so that GPUs that share the sequence
  /// from both ends have the same work.
  std::int64_t keys = 0;

  std::int64_t all_keys() const { return keys > 0 ? keys : sequence; }
  std::int64_t values() const { return value_size > 0 ? value_size : head_size; }
  /// The number of heads of queries that use the same keys and values.
  std::int64_t sharing() const { return kv_heads > 0 ? heads / kv_heads : 1; }
  /// The features that the products sum over or produce for a pair of tokens: scores and results in forward;
  /// in backward scores again, and the gradients of the weights of results, of values, queries and keys.
  double features(bool backward) const {
    return static_cast<double>(backward ? 3 * head_size + 2 * values() : head_size + values());
  }
  double flops(bool backward) const {
    const auto n = static_cast<double>(sequence);
    const auto m = static_cast<double>(all_keys());
    const double pairs = causal ? n * (m + 1) / 2 : n * m;
    return 2.0 * static_cast<double>(batch * heads) * pairs * features(backward);
  }
};

/// Each tensor has (batch x sequence) rows, or (batch x keys), and (heads x size) columns. Keys and values
/// have only their own heads, but their gradients have one for each head of queries; gradients that share a
/// head are added later.
struct AttentionTensors {
  Tensor query, key, value, out;
  Tensor d_query, d_key, d_value, d_out;  ///< backward only; d_query holds fp32
};
AttentionTensors attention_tensors(AddressSpace& addresses, const Attention& a);

class AttentionKernel final : public TileLoop {
 public:
  AttentionKernel(Core& core, const Attention& attention, const AttentionTensors& tensors, bool backward);
  Launch launch() override;
  double flops() const override { return attention_.flops(backward_); }

 private:
  static constexpr std::int64_t kTile = 128;
  void assign(Workgroup& w) override;
  sim::Time load(Workgroup& w, int slab, sim::Time now) override;
  sim::Time store(Workgroup& w, sim::Time now) override;
  enum class Way : std::uint8_t { kRead, kWrite };
  /// Where a tile of queries stands in the sequence, counted in tiles.
  std::int64_t position(std::int64_t tile) const {
    return tile < query_tiles_ / 2 ? tile : key_tiles_ - query_tiles_ + tile;
  }
  /// Rows of the tile that a workgroup holds.
  std::int64_t own_rows(const Workgroup& w) const;
  /// Some rows of one head.
  sim::Time move(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t head, std::int64_t size,
                 Way way, sim::Time now);

  Attention attention_;
  AttentionTensors t_;
  bool backward_;
  std::int64_t query_tiles_;  // of a sequence
  std::int64_t key_tiles_;
};

}  // namespace infold::gpu
