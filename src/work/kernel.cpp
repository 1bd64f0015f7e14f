// What each kind of kernel reads and writes.
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

Touched touched(const Computation& what) {
  return std::visit([](const auto& k) { return touched_by(k); }, what);
}

}  // namespace infold::work
