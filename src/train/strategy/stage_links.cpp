// A communicator is made of pairs of ranks, and each message is one transfer.
#include "train/strategy/stage_links.h"

#include <fmt/format.h>

#include <algorithm>

namespace infold::train {

work::CommunicatorId StageLinks::communicator(Way way, int link) {
  const auto [place, is_new] =
      communicators_.try_emplace({way, link}, static_cast<work::CommunicatorId>(graph_.communicators.size()));
  if (!is_new) return place->second;
  const int next = (link + 1) % layout_.pp;
  work::Communicator c;
  c.name = way == Way::kForward ? fmt::format("pp forward {}-{}", link, next)
                                : fmt::format("pp backward {}-{}", next, link);
  const int stage_ranks = layout_.ranks() / layout_.pp;
  for (int r = 0; r < stage_ranks; ++r) c.groups.push_back({link * stage_ranks + r, next * stage_ranks + r});
  graph_.communicators.push_back(std::move(c));
  return place->second;
}

work::BufferId StageLinks::buffer(const Message& m) {
  const auto [place, is_new] = buffers_.try_emplace({m.way, m.part, m.micro_batch}, 0);
  if (is_new) place->second = graph_.add(work::Buffer{.bytes = m.bytes});
  return place->second;
}

work::Stream& StageLinks::stream(int stage, work::CommunicatorId communicator) {
  auto& streams = graph_.scripts[static_cast<std::size_t>(stage)].streams;
  const auto found =
      std::ranges::find_if(streams, [&](const work::Stream& s) { return s.communicator == communicator; });
  if (found != streams.end()) return *found;
  streams.push_back({.name = graph_.communicators[static_cast<std::size_t>(communicator)].name,
                     .kind = work::Stream::Kind::kCommunication,
                     .communicator = communicator});
  return streams.back();
}

work::OpId StageLinks::add(int stage, const Message& m, work::BufferId buffer,
                           std::vector<work::OpId> after) {
  const bool forward = m.way == Way::kForward;
  const int link = (forward ? m.part : m.part - 1) % layout_.pp;
  const work::CommunicatorId c = communicator(m.way, link);
  return graph_.add(stream(stage, c),
                    {.what = work::Transfer{.communicator = c, .buffer = buffer, .from = forward ? 0 : 1},
                     .name = fmt::format("{} of micro-batch {} from part {}",
                                         forward ? "activations" : "gradient", m.micro_batch, m.part),
                     .after = std::move(after),
                     .pass = m.micro_batch});
}

work::OpId StageLinks::send(int stage, const Message& m, std::vector<work::OpId> after) {
  const work::BufferId b = buffer(m);
  graph_.buffers[static_cast<std::size_t>(b)].input = m.tensor;
  return add(stage, m, b, std::move(after));
}

work::OpId StageLinks::receive(int stage, const Message& m, std::vector<work::OpId> after) {
  const work::BufferId b = buffer(m);
  graph_.buffers[static_cast<std::size_t>(b)].output = m.tensor;
  return add(stage, m, b, std::move(after));
}

}  // namespace infold::train
