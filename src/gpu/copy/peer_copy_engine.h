// A copy engine that copies to another GPU's memory (or within its own): commands wait in its queue, and it
// carries out one after the other, without an SM.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/copy/copy_pipeline.h"
#include "gpu/copy/move.h"
#include "gpu/sm/sm_spec.h"
#include "sim/event_queue.h"
#include "sim/pool.h"
#include "sim/ring_buffer.h"

namespace infold::gpu {

class PeerCopyEngine final : public MoveClient, public sim::Handler {
 public:
  /// Both must outlive it. `pipeline` is its data path.
  PeerCopyEngine(CopyPipeline& pipeline, sim::EventQueue& events, const CopyEngineSpec& spec)
      : pipeline_(pipeline), events_(events), spec_(spec) {}

  /// Queues a copy: a move of one load. Its client is told when it was issued and when it is complete, the
  /// latter after the engine has signalled it.
  void copy(const Move& move) {
    commands_.push(move);
    if (!busy_) fetch();
  }

  std::uint32_t sender() const { return pipeline_.sender(); }

 private:
  /// Events: the command was fetched, or (its number follows) the end of a copy is signalled.
  static constexpr std::uint32_t kFetched = 0;
  static constexpr std::uint32_t kSignalled = 1;

  void fetch();
  void handle(std::uint32_t event) override;
  void move_issued(std::uint32_t copy) override;
  void move_complete(std::uint32_t copy) override;
  void produce(std::uint32_t copy, std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t copy, std::uint32_t offset, std::span<const std::byte> values) override;

  CopyPipeline& pipeline_;
  sim::EventQueue& events_;
  const CopyEngineSpec& spec_;
  sim::RingBuffer<Move> commands_;  // not begun
  bool busy_ = false;               // fetching a command, or loading for one
  sim::Pool<Move> under_way_;       // as asked for; by copy
};

}  // namespace infold::gpu
