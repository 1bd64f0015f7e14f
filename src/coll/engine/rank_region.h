// One rank's share in an in-network step: where its parts lie in memory, what it contributes and gets.
// Internal to coll/.
#pragma once

#include <cstdint>
#include <span>

#include "coll/engine/executor.h"
#include "coll/program/program.h"
#include "gpu/copy/switch_client.h"
#include "gpu/copy/switch_port.h"
#include "inc/regions.h"

namespace infold::coll {

/// What ranks that meet contribute: the least that a switch adds up.
inline constexpr sim::Bytes kMeeting{16};

/// The region that the switches know a step by.
inc::RegionPlan region_plan(const Step& step, const ExecutorContext& context, sim::Bytes packet);
/// Packets of so many bytes that may travel as one without distorting tables, buffers or waves.
int burst_of(const ExecutorContext& context, sim::Bytes packet);

class RankRegion;

/// Whom a share tells what came in and went out.
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
  /// What this rank does for the step; begin == end: nothing but answer and receive.
  gpu::UnitTask task() const;
  /// Bytes that will be stored in this rank's memory, and that it will be asked for.
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
  void produce(std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t offset, std::span<const std::byte> values) override;

 protected:
  const ExecutorContext& context_;
  const int rank_;
  const Step& step_;
  const std::uint32_t part_;

 private:
  /// Offsets in the rank's input and output.
  std::uint64_t input_at(std::uint32_t part) const;
  std::uint64_t output_at(std::uint32_t part) const;

  inc::RegionId region_;
  RegionListener& listener_;
};

}  // namespace infold::coll
