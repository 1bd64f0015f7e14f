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
  std::int64_t head_size = 64;  ///< of queries and keys
  std::int64_t kv_heads =
      0;  ///< heads of keys and values, each used by as many of queries; 0: as many as heads
  std::int64_t value_size = 0;  ///< of values and results; 0: the head size
  Precision precision = Precision::kFp16;
  bool causal = false;  ///< a token sees only itself and those before: tiles beyond the diagonal are left out

  std::int64_t values() const { return value_size > 0 ? value_size : head_size; }
  /// Heads of queries that use the same keys and values.
  std::int64_t sharing() const { return kv_heads > 0 ? heads / kv_heads : 1; }
  /// Features that the products sum over or give for a pair of tokens: scores and results in forward; in
  /// backward scores again, and the gradients of results' weights, values, queries and keys.
  double features(bool backward) const {
    return static_cast<double>(backward ? 3 * head_size + 2 * values() : head_size + values());
  }
  double flops(bool backward) const {
    const auto n = static_cast<double>(sequence);
    const double pairs = causal ? n * (n + 1) / 2 : n * n;
    return 2.0 * static_cast<double>(batch * heads) * pairs * features(backward);
  }
};

/// Each tensor has (batch x sequence) rows and (heads x size) columns. Keys and values have only the heads
/// that they have, but their gradients have one for each head of queries: what shares a head is added later.
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
  /// Some rows of one head.
  sim::Time move(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t head, std::int64_t size,
                 Way way, sim::Time now);

  Attention attention_;
  AttentionTensors t_;
  bool backward_;
  std::int64_t tiles_;  // tiles of a sequence
};

}  // namespace infold::gpu
