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
  std::int64_t head_size = 64;
  Precision precision = Precision::kFp16;
  bool causal = false;  ///< a token sees only itself and those before: tiles beyond the diagonal are left out

  /// There are two products in forward and five in backward (scores are computed again).
  double flops(bool backward) const {
    const auto n = static_cast<double>(sequence);
    const double pairs = causal ? n * (n + 1) / 2 : n * n;
    const double one = 2.0 * static_cast<double>(batch * heads) * pairs * static_cast<double>(head_size);
    return one * (backward ? 5 : 2);
  }
};

/// Each tensor has (batch x sequence) rows and (heads x head_size) columns.
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
  sim::Time move(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t col, Way way,
                 sim::Time now);

  Attention attention_;
  AttentionTensors t_;
  bool backward_;
  std::int64_t tiles_;  // tiles of a sequence
};

}  // namespace infold::gpu
