// A matrix product or convolution as a kernel of tiles.
#pragma once

#include "gpu/kernel/product.h"
#include "gpu/kernel/tile_loop.h"
#include "gpu/kernel/tile_plan.h"

namespace infold::gpu {

class ProductKernel final : public TileLoop {
 public:
  /// With plan.split > 1 the kernel leaves partial sums; `partials` are then plan.split tensors in fp32, each
  /// as large as the result.
  ProductKernel(Core& core, const Product& product, const TilePlan& plan, std::vector<Tensor> partials);

  Launch launch() override;
  double flops() const override { return product_.flops; }
  const TilePlan& plan() const { return plan_; }

 private:
  void assign(Workgroup& w) override;
  sim::Time load(Workgroup& w, int slab, sim::Time now) override;
  sim::Time store(Workgroup& w, sim::Time now) override;

  std::int64_t group_of(const Workgroup& w) const {
    return product_.groups == 1 ? 0 : w.index / (down_ * across_) % product_.groups;
  }

  Product product_;
  TilePlan plan_;
  std::vector<Tensor> partials_;
  std::int64_t down_;
  std::int64_t across_;
  std::int64_t slabs_;
  std::int64_t group_;  // rows of tiles that are walked together, so that neighbours share operands in L2
};

}  // namespace infold::gpu
