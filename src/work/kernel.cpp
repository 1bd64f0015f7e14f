// What each kind of kernel reads and writes, and how large products are.
#include "work/kernel.h"

namespace infold::work {

namespace {

Touched touched_by(const MatMul& m) {
  return {{m.left, m.right}, {m.out}};
}

Touched touched_by(const Convolve& c) {
  switch (c.way) {
    case Convolve::Way::kForward:
      return {{c.in, c.filter}, {c.out}};
    case Convolve::Way::kDataGradient:
      return {{c.out, c.filter}, {c.in}};
    case Convolve::Way::kFilterGradient:
      return {{c.in, c.out}, {c.filter}};
  }
  return {};
}

Touched touched_by(const Attend& a) {
  if (!a.backward) return {{a.query, a.key, a.value}, {a.out}};
  return {{a.query, a.key, a.value, a.out, a.d_out}, {a.d_query, a.d_key, a.d_value}};
}

Touched touched_by(const Streaming& s) {
  Touched t;
  for (const Streaming::Pass& p : s.passes) {
    t.reads.insert(t.reads.end(), p.reads.begin(), p.reads.end());
    t.writes.insert(t.writes.end(), p.writes.begin(), p.writes.end());
  }
  return t;
}

}  // namespace

ProductSize size_of(const std::vector<TensorSpec>& tensors, const MatMul& p) {
  const TensorSpec& left = tensors[static_cast<std::size_t>(p.left)];
  const TensorSpec& right = tensors[static_cast<std::size_t>(p.right)];
  return {.m = p.left_by_k ? left.cols : left.rows / p.groups,
          .n = p.right_by_k ? right.cols : right.rows / p.groups,
          .k = p.left_by_k ? left.rows / p.groups : left.cols};
}

double flops_of(const std::vector<TensorSpec>& tensors, const MatMul& p) {
  const ProductSize s = size_of(tensors, p);
  return 2.0 * p.groups * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

Touched touched(const Computation& what) {
  return std::visit([](const auto& k) { return touched_by(k); }, what);
}

}  // namespace infold::work
