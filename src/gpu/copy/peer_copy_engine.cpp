// Carries out one command after the other: the next is fetched when the last has loaded everything that it
// copies.
#include "gpu/copy/peer_copy_engine.h"

namespace infold::gpu {

void PeerCopyEngine::fetch() {
  busy_ = true;
  events_.schedule(events_.now() + spec_.command, sim::Priority::kWork, *this, kFetched);
}

void PeerCopyEngine::handle(std::uint32_t event) {
  if (event >= kSignalled) {
    const std::uint32_t copy = event - kSignalled;
    const Move asked = under_way_[copy];
    under_way_.give_back(copy);
    asked.client->move_complete(asked.cookie);
    return;
  }
  const std::uint32_t copy = under_way_.take(commands_.front());
  commands_.pop();
  Move move = under_way_[copy];
  move.client = this;
  move.cookie = copy;
  pipeline_.start(move);
}

void PeerCopyEngine::move_issued(std::uint32_t copy) {
  busy_ = false;
  if (!commands_.empty()) fetch();
  const Move& asked = under_way_[copy];
  asked.client->move_issued(asked.cookie);
}

void PeerCopyEngine::move_complete(std::uint32_t copy) {
  events_.schedule(events_.now() + spec_.signal, sim::Priority::kWork, *this, kSignalled + copy);
}

void PeerCopyEngine::produce(std::uint32_t copy, std::uint32_t offset, std::span<std::byte> out) {
  under_way_[copy].client->produce(under_way_[copy].cookie, offset, out);
}

void PeerCopyEngine::consume(std::uint32_t copy, std::uint32_t offset, std::span<const std::byte> values) {
  under_way_[copy].client->consume(under_way_[copy].cookie, offset, values);
}

}  // namespace infold::gpu
