// The part of one rank in an in-network step: where its parts lie in memory, what it contributes and what it
// gets. Internal to coll/.
#pragma once

#include <cstdint>
#include <span>

#include "coll/engine/executor.h"
#include "coll/program/program.h"
#include "coll/program/tokens.h"
#include "gpu/copy/switch_client.h"
#include "gpu/copy/switch_port.h"
#include "inc/regions.h"

namespace infold::coll {

/// What ranks that meet contribute: the smallest amount that a switch adds up.
inline constexpr sim::Bytes kMeeting{16};

/// The region by which the switches know a step.
inc::RegionPlan region_plan(const Step& step, const ExecutorContext& context, sim::Bytes packet);
/// The number of packets of this size that may travel as one without distorting tables, buffers or waves.
int burst_of(const ExecutorContext& context, sim::Bytes packet);

class RankRegion;

/// Is told what came in and what went out.
class RegionListener {
 public:
  virtual void replied(RankRegion& share, std::uint32_t offset, sim::Bytes bytes) = 0;
  virtual void received(RankRegion& share, std::uint32_t offset, sim::Bytes bytes) = 0;
  virtual gpu::SwitchClient& pipeline(std::uint32_t part) = 0;

 protected:
  ~RegionListener() = default;
};

class RankRegion : public gpu::UnitClient {
 public:
  RankRegion(const ExecutorContext& context, int rank, const Step& step, inc::RegionId region,
             RegionListener& listener);
  virtual ~RankRegion();
  RankRegion(const RankRegion&) = delete;
  RankRegion& operator=(const RankRegion&) = delete;

  inc::RegionId region() const { return region_; }
  const Step& step() const { return step_; }
  /// What this rank does for the step; if begin == end, it only answers and receives.
  gpu::UnitTask task() const;
  /// The bytes that will be stored in this rank's memory, and the bytes that it will be asked for.
  sim::Bytes to_receive() const;
  sim::Bytes to_reply() const;

  gpu::Place reads_from(std::uint32_t part) override;
  gpu::Place writes_to(std::uint32_t part) override;
  Behind behind(std::uint32_t) override {
    return step_.net != NetOp::kMeet ? Behind::kMemory : Behind::kNothing;
  }
  sim::Bytes part_bytes(std::uint32_t part) override;
  gpu::SwitchClient& pipeline(std::uint32_t part) override { return listener_.pipeline(part); }
  void replied(std::uint32_t offset, sim::Bytes bytes) override { listener_.replied(*this, offset, bytes); }
  void received(std::uint32_t offset, sim::Bytes bytes) override { listener_.received(*this, offset, bytes); }
  bool sends(std::uint32_t part) override;
  void produce(std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t offset, std::span<const std::byte> values) override;

 protected:
  const ExecutorContext& context_;
  const int rank_;
  const Step& step_;
  const std::uint32_t part_;

 private:
  bool tokens() const { return step_.who == NetWho::kExperts; }
  /// With tokens: whose a part is, and its number. Parts are in the order of tokens, each of every rank.
  int whose(std::uint32_t part) const { return static_cast<int>(part) % context_.program.ranks; }
  int token(std::uint32_t part) const { return static_cast<int>(part) / context_.program.ranks; }
  /// The bytes of tokens that have experts on this rank.
  sim::Bytes of_experts() const;
  /// Offsets in the rank's input and output.
  std::uint64_t input_at(std::uint32_t part) const;
  std::uint64_t output_at(std::uint32_t part) const;

  inc::RegionId region_;
  Tokens tokens_;
  RegionListener& listener_;
};

}  // namespace infold::coll
