// The part of one rank in an in-network step that workgroups do, round by round. A part is a chunk, and lies
// in a buffer that is registered with the switches, or in the memory of the user. Internal to coll/.
#pragma once

#include <algorithm>

#include "coll/in_network/rank_region.h"

namespace infold::coll {

/// How a step is cut into rounds, each of which has one chunk per rank.
class Rounds {
 public:
  /// Chunks consist of whole blocks.
  Rounds(const Step& step, int ranks, sim::Bytes block)
      : step_(step), ranks_(ranks), shares_(step.who == NetWho::kOwner), bytes_(step.bytes.count()) {
    // If data go straight from and to the user's memory, all of it is one round.
    const std::int64_t even = shares_ ? bytes_ / ranks : (bytes_ + ranks - 1) / ranks;
    chunk_ = step.stage > sim::Bytes{} ? step.stage.count() : std::max<std::int64_t>(even, 1);
    chunk_ = (chunk_ + block.count() - 1) / block.count() * block.count();
  }

  std::int64_t chunk() const { return chunk_; }
  std::uint32_t count() const {
    const std::int64_t round = shares_ ? chunk_ : chunk_ * ranks_;
    const std::int64_t whole = shares_ ? bytes_ / ranks_ : bytes_;
    return std::max(1U, static_cast<std::uint32_t>((whole + round - 1) / round));  // who only meets, once
  }
  std::uint32_t parts() const { return count() * static_cast<std::uint32_t>(ranks_); }
  /// The size of part `p`, which is chunk p % ranks of round p / ranks.
  std::int64_t bytes(std::uint32_t p) const {
    if (shares_) return std::clamp<std::int64_t>(bytes_ / ranks_ - p / n() * chunk_, 0, chunk_);
    return std::clamp<std::int64_t>(bytes_ - p * chunk_, 0, chunk_);
  }
  /// Where it begins in the vector that all ranks have, and in the one that has only a rank's own share.
  std::int64_t in_whole(std::uint32_t p) const {
    return shares_ ? step_.stride.count() * (p % n()) + p / n() * chunk_ : p * chunk_;
  }
  std::int64_t in_own(std::uint32_t p) const { return shares_ ? p / n() * chunk_ : p * chunk_; }

 private:
  std::int64_t n() const { return ranks_; }
  const Step& step_;
  int ranks_;
  bool shares_;
  std::int64_t bytes_;
  std::int64_t chunk_ = 1;
};

class StagedRegion final : public RankRegion {
 public:
  /// `buffer` is that of this channel, behind the rank's output; `slots` rounds fit into it.
  StagedRegion(const ExecutorContext& context, int rank, const Step& step, inc::RegionId region,
               RegionListener& listener, const Rounds& rounds, sim::Bytes buffer, std::uint32_t slots)
      : RankRegion(context, rank, step, region, listener),
        rounds_(rounds),
        buffer_(buffer.count()),
        slots_(slots) {}

  gpu::Place reads_from(std::uint32_t part) override {
    const auto at = static_cast<std::uint64_t>(read_at(part));
    return {reads_stage() ? context_.buffers.output(rank_) : context_.buffers.input(rank_), at};
  }
  gpu::Place writes_to(std::uint32_t part) override {
    return {context_.buffers.output(rank_), static_cast<std::uint64_t>(write_at(part))};
  }
  /// Behind the parts that are moved, each rank has a flag by which it polls (coll/in_network/switch_poll.h).
  bool is_flag(std::uint32_t part) const { return part >= rounds_.parts(); }
  Behind behind(std::uint32_t part) override {
    return is_flag(part) ? Behind::kFlag : RankRegion::behind(part);
  }
  sim::Bytes part_bytes(std::uint32_t part) override {
    return is_flag(part) ? kMeeting : sim::Bytes{rounds_.bytes(part)};
  }
  void produce(std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t offset, std::span<const std::byte> values) override;

  /// Data are copied into the buffer before the switches read them, and out of it after they wrote them.
  bool copies_in() const { return reads_stage(); }
  bool copies_out() const { return writes_stage(); }
  /// Where a part of the user's vectors, and of the buffer, lies.
  std::int64_t input_of(std::uint32_t part) const {
    const bool own = step_.net == NetOp::kMulticast;
    return step_.input_offset.count() + (own ? rounds_.in_own(part) : rounds_.in_whole(part));
  }
  std::int64_t output_of(std::uint32_t part) const {
    const bool own = step_.net != NetOp::kMulticast;
    return step_.output_offset.count() + (own ? rounds_.in_own(part) : rounds_.in_whole(part));
  }
  std::int64_t stage_of(std::uint32_t part) const {
    const auto ranks = static_cast<std::uint32_t>(context_.program.ranks);
    return buffer_ + (part / ranks % slots_ * ranks + part % ranks) * rounds_.chunk();
  }

 private:
  bool reads_stage() const { return step_.stage > sim::Bytes{} && step_.net == NetOp::kLoadReduce; }
  bool writes_stage() const {
    return step_.stage > sim::Bytes{} && (step_.net == NetOp::kMulticast || step_.who == NetWho::kAll);
  }
  std::int64_t read_at(std::uint32_t part) const { return reads_stage() ? stage_of(part) : input_of(part); }
  std::int64_t write_at(std::uint32_t part) const {
    return writes_stage() ? stage_of(part) : output_of(part);
  }

  const Rounds& rounds_;
  std::int64_t buffer_;
  std::uint32_t slots_;
};

}  // namespace infold::coll
