// Ranks to coordinates and groups.
#include "train/layout.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "sim/check.h"

namespace infold::train {

namespace {

/// The coordinates that the members of a group have in common.
using Common = std::tuple<int, int, int, int>;

Common common_of(const Layout& layout, Axis axis, const Coordinates& c) {
  switch (axis) {
    case Axis::kReplica:
      return {c.stage, c.tensor, 0, 0};
    case Axis::kTensor:
      return {c.stage, c.data, c.context, 0};
    case Axis::kContext:
      return {c.stage, c.data, c.tensor, 0};
    case Axis::kExpert:
      return {c.stage, c.data / layout.ep, c.context, c.tensor};
    case Axis::kExpertReplica:
      return {c.stage, c.data % layout.ep, c.tensor, 0};
    case Axis::kPipeline:
      return {c.data, c.context, c.tensor, 0};
  }
  INFOLD_CHECK(false, "every axis has its groups");
  return {};
}

}  // namespace

Coordinates coordinates_of(const Layout& layout, int rank) {
  return {.tensor = rank % layout.tp,
          .context = rank / layout.tp % layout.cp,
          .data = rank / (layout.tp * layout.cp) % layout.dp,
          .stage = rank / (layout.tp * layout.cp * layout.dp)};
}

std::vector<std::vector<int>> groups_of(const Layout& layout, Axis axis) {
  std::map<Common, std::size_t> place;
  std::vector<std::vector<int>> groups;
  if (size_of(layout, axis) == 1) return groups;
  for (int r = 0; r < layout.ranks(); ++r) {
    const auto [at, is_new] =
        place.try_emplace(common_of(layout, axis, coordinates_of(layout, r)), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(r);
  }
  return groups;
}

int size_of(const Layout& layout, Axis axis) {
  switch (axis) {
    case Axis::kReplica:
      return layout.dp * layout.cp;
    case Axis::kTensor:
      return layout.tp;
    case Axis::kContext:
      return layout.cp;
    case Axis::kExpert:
      return layout.ep;
    case Axis::kExpertReplica:
      return layout.dp / layout.ep * layout.cp;
    case Axis::kPipeline:
      return layout.pp;
  }
  INFOLD_CHECK(false, "every axis has a size");
  return 1;
}

sim::Result<Layout> fill(Layout layout, int ranks) {
  const std::int64_t inner = std::int64_t{layout.tp} * layout.cp * layout.pp;
  if (layout.dp == 0) {
    if (inner > ranks || ranks % inner != 0)
      return sim::fail(fmt::format("{} GPUs cannot be divided by tp {} x cp {} x pp {}", ranks, layout.tp,
                                   layout.cp, layout.pp));
    layout.dp = static_cast<int>(ranks / inner);
  }
  if (inner * layout.dp != ranks)
    return sim::fail(fmt::format("dp {} x tp {} x cp {} x pp {} needs {} GPUs, not {}", layout.dp, layout.tp,
                                 layout.cp, layout.pp, inner * layout.dp, ranks));
  if (layout.dp % layout.ep != 0)
    return sim::fail(fmt::format("experts are divided among data-parallel ranks: ep {} does not divide dp {}",
                                 layout.ep, layout.dp));
  return layout;
}

}  // namespace infold::train
