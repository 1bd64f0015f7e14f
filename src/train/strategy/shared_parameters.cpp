// One communicator for each set of stages.
#include "train/strategy/shared_parameters.h"

#include <algorithm>
#include <utility>

namespace infold::train {

SharedParameters::SharedParameters(work::Graph& graph, const std::vector<ModelPart>& parts,
                                   const Layout& layout)
    : graph_(graph), layout_(layout) {
  for (const ParameterId p : shared_parameters(parts)) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const auto& here = parts[part].parameters;
      if (std::ranges::find(here, p) != here.end()) stages_[p].push_back(static_cast<int>(part) % layout.pp);
    }
  }
}

std::vector<ParameterId> SharedParameters::of(int stage) const {
  std::vector<ParameterId> all;
  for (const auto& [p, stages] : stages_) {
    if (std::ranges::find(stages, stage) != stages.end()) all.push_back(p);
  }
  return all;
}

work::CommunicatorId SharedParameters::communicator(ParameterId p) {
  const auto [place, is_new] = communicators_.try_emplace(
      stages_.at(p), static_cast<work::CommunicatorId>(graph_.communicators.size()));
  if (!is_new) return place->second;
  work::Communicator c;
  c.name = "shared parameters";
  const int stage_ranks = layout_.ranks() / layout_.pp;
  for (int r = 0; r < stage_ranks; ++r) {
    auto& group = c.groups.emplace_back();
    for (const int stage : stages_.at(p)) group.push_back(stage * stage_ranks + r);
  }
  graph_.communicators.push_back(std::move(c));
  return place->second;
}

work::Stream& SharedParameters::stream(int stage, ParameterId p) {
  const work::CommunicatorId c = communicator(p);
  auto& streams = graph_.scripts[static_cast<std::size_t>(stage)].streams;
  const auto found =
      std::ranges::find_if(streams, [&](const work::Stream& s) { return s.communicator == c; });
  if (found != streams.end()) return *found;
  streams.push_back(
      {.name = "shared parameters", .kind = work::Stream::Kind::kCommunication, .communicator = c});
  return streams.back();
}

}  // namespace infold::train
