// How a job is laid out over its ranks: by how many ranks each kind of parallelism divides the work, and who
// works with whom.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/params.h"
#include "sim/result.h"

namespace infold::train {

/// The groups of ranks that communicate with each other.
enum class Axis : std::uint8_t { kReplica, kTensor, kContext, kExpert, kExpertReplica, kPipeline };
inline constexpr std::array kAxisNames = {
    sim::Named{Axis::kReplica, "dp", "ranks that hold the same parameters: data and context parallel"},
    sim::Named{Axis::kTensor, "tp", "ranks that share every layer: tensor parallel"},
    sim::Named{Axis::kContext, "cp", "ranks that share every sequence: context parallel"},
    sim::Named{Axis::kExpert, "ep", "data-parallel ranks that share the experts: expert parallel"},
    sim::Named{Axis::kExpertReplica, "edp", "ranks that hold the same experts"},
    sim::Named{Axis::kPipeline, "pp", "ranks that share the layers of one replica: stages"},
};
constexpr std::span<const sim::Named<Axis>> names_of(Axis) {
  return kAxisNames;
}

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

/// `layout` with the data-parallel degree that uses all of `ranks`, where `dp` is 0. Refuses what does not
/// come out.
sim::Result<Layout> fill(Layout layout, int ranks);

}  // namespace infold::train
