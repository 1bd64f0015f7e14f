// Which tile a workgroup gets, what it loads and what it stores.
#include "gpu/kernel/product_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/sm/sm.h"
#include "sim/check.h"

namespace infold::gpu {

ProductKernel::ProductKernel(Core& core, const Product& product, const TilePlan& plan,
                             std::vector<Tensor> partials)
    : TileLoop(core, Actor::kCompute, plan.stages),
      product_(product),
      plan_(plan),
      partials_(std::move(partials)),
      down_(plan.tiles_down(product)),
      across_(plan.tiles_across(product)),
      slabs_(plan.slabs(product)) {
  INFOLD_CHECK(plan.split == 1 || partials_.size() == static_cast<std::size_t>(plan.split),
               "every part has a place for its sums");
  pace_ = pace_of(core.spec(), plan, product.precision);
  // Tiles that run together form a square, as far as the matrix allows.
  const double together = static_cast<double>(core.dispatcher().usable_sms(actor_)) *
                          workgroups_per_sm(core.spec().sm, plan.footprint(product.precision));
  const double side = std::sqrt(together * plan.n / plan.m);
  group_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(side), 1, down_);
  const std::int64_t cluster = core.spec().sm.cluster;
  group_ = std::max(group_ / cluster * cluster, std::min(cluster, down_));
}

Launch ProductKernel::launch() {
  return {.work = this,
          .workgroups = static_cast<int>(down_ * across_ * product_.groups * plan_.split),
          .footprint = plan_.footprint(product_.precision)};
}

void ProductKernel::assign(Workgroup& w) {
  const std::int64_t tiles = down_ * across_;
  const std::int64_t tile = w.index % tiles;
  const std::int64_t part = w.index / (tiles * product_.groups);
  const std::int64_t band = tile / (group_ * across_);
  const std::int64_t high = std::min(group_, down_ - band * group_);
  const std::int64_t within = tile - band * group_ * across_;
  w.row = (band * group_ + within % high) * plan_.m;
  w.col = within / high * plan_.n;
  const std::int64_t each = (slabs_ + plan_.split - 1) / plan_.split;
  w.first_slab = part * each;
  w.slabs = static_cast<int>(std::clamp<std::int64_t>(slabs_ - w.first_slab, 0, each));
  product_.left.prepare(w.row, std::min<std::int64_t>(plan_.m, product_.m - w.row), w.from, w.to);
}

sim::Time ProductKernel::load(Workgroup& w, int slab, sim::Time now) {
  const std::int64_t k = (w.first_slab + slab) * plan_.k;
  const std::int64_t depth = std::min<std::int64_t>(plan_.k, product_.k - k);
  const std::int64_t rows = std::min<std::int64_t>(plan_.m, product_.m - w.row);
  const std::int64_t cols = std::min<std::int64_t>(plan_.n, product_.n - w.col);
  // Workgroups one below the other share the right operand; in a cluster each loads its part for all of them.
  const int cluster = down_ % core_.spec().sm.cluster == 0 ? core_.spec().sm.cluster : 1;
  MemorySystem& memory = core_.memory();
  // A group's rows follow those of the groups before it; they are the outer dimension, or k.
  const std::int64_t group = group_of(w);
  const auto outer_from = [group](const Operand& o, std::int64_t extent) {
    return o.kind() == Operand::Kind::kRows ? group * extent : 0;
  };
  const auto k_from = [&](const Operand& o) {
    return o.kind() == Operand::Kind::kCols ? group * product_.k : 0;
  };
  const sim::Time left = product_.left.read(memory, actor_, w.row + outer_from(product_.left, product_.m),
                                            rows, k + k_from(product_.left), depth, w.from, w.to, 0, 1, now);
  const sim::Time right =
      product_.right.read(memory, actor_, w.col + outer_from(product_.right, product_.n), cols,
                          k + k_from(product_.right), depth, 0, 0, w.index % cluster, cluster, now);
  return sim::max(left, right);
}

sim::Time ProductKernel::store(Workgroup& w, sim::Time now) {
  const std::int64_t part = w.index / (down_ * across_ * product_.groups);
  const std::int64_t above = group_of(w) * product_.m;
  const Tensor& to = plan_.split > 1 ? partials_[static_cast<std::size_t>(part)] : product_.out;
  const std::int64_t row = above + w.row;
  const std::int64_t row_end = above + std::min(w.row + plan_.m, product_.m);
  const std::int64_t col_end = std::min(w.col + plan_.n, product_.n);
  sim::Time taken = now;
  const std::int64_t bh = to.block_rows();
  const std::int64_t bw = to.block_cols();
  for (std::int64_t i = row / bh; i * bh < row_end; ++i) {
    const std::int64_t rows = std::min(row_end, (i + 1) * bh) - std::max(row, i * bh);
    for (std::int64_t j = w.col / bw; j * bw < col_end; ++j) {
      const std::int64_t cols = std::min(col_end, (j + 1) * bw) - std::max(w.col, j * bw);
      taken = sim::max(
          taken, core_.memory().write(actor_, to.at(i, j),
                                      static_cast<std::uint32_t>(rows * cols * to.element_bytes()), now));
    }
  }
  return taken;
}

}  // namespace infold::gpu
