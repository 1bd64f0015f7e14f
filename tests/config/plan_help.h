// What the tests of plans share: that the matrix products of a plan fit their tensors, and that every
// parameter has one gradient.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "train/plan.h"

namespace infold::config {

inline void expect_products_fit(const train::Graph& graph, const train::Plan& plan, const std::string& name) {
  std::set<int> ready;
  for (const auto& r : plan.ready) {
    EXPECT_TRUE(ready.insert(r.parameter).second) << name;
    EXPECT_NE(plan.ops[static_cast<std::size_t>(r.op)].kernel(), nullptr) << name;
  }
  EXPECT_EQ(ready.size(), graph.parameters.size()) << name;
  const auto spec = [&](train::TensorId t) { return plan.tensors.at(static_cast<std::size_t>(t)); };
  for (const train::Op& op : plan.ops) {
    const auto* p = std::get_if<train::MatMul>(op.kernel());
    if (p == nullptr) continue;
    const train::ProductSize size = size_of(plan, *p);
    EXPECT_EQ(size.k, p->right_by_k ? spec(p->right).rows / p->groups : spec(p->right).cols) << name;
    EXPECT_EQ(spec(p->out).rows, size.m * p->groups) << name;
    EXPECT_EQ(spec(p->out).cols, size.n) << name;
    EXPECT_EQ(spec(p->left).element_bytes, spec(p->right).element_bytes) << name;
  }
}

}  // namespace infold::config
