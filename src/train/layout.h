// How a job is laid out over its ranks: by how many ranks each kind of parallelism divides the work, and
// which ranks work together.
#pragma once

#include <vector>

#include "sim/result.h"
#include "train/names.h"

namespace infold::train {

/// Ranks are numbered with the tensor-parallel rank running fastest, then context, data and stage, as
/// Megatron-LM does: those that talk most lie next to each other. Experts are divided among data-parallel
/// ranks, so `ep` divides `dp` and takes no ranks of its own.
struct Layout {
  int dp = 1;
  int tp = 1;
  int pp = 1;
  int ep = 1;
  int cp = 1;

  int ranks() const { return dp * tp * pp * cp; }
  bool operator==(const Layout&) const = default;
};

/// Where a rank stands in a layout.
struct Coordinates {
  int tensor = 0;
  int context = 0;
  int data = 0;
  int stage = 0;
};
Coordinates coordinates_of(const Layout& layout, int rank);

/// All groups of an axis, each in the order of ranks. Groups of one rank are left out.
std::vector<std::vector<int>> groups_of(const Layout& layout, Axis axis);
/// The number of ranks in a group of an axis.
int size_of(const Layout& layout, Axis axis);

/// Returns `layout` with the data-parallel degree that uses all of `ranks`, where `dp` is 0. Refuses degrees
/// that do not divide them.
sim::Result<Layout> fill(Layout layout, int ranks);

}  // namespace infold::train
