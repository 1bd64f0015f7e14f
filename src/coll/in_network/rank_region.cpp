// From parts of a region to places in memory.
#include "coll/in_network/rank_region.h"

#include <algorithm>

#include "coll/program/chunking.h"

namespace infold::coll {

int burst_of(const ExecutorContext& context, sim::Bytes packet) {
  constexpr sim::Bytes kMost = 512_B;  // longer ones would be too coarse for ALUs and home ports
  constexpr int kShare = 8;            // but a machine whose bursts are very long is asked for coarse ones
  const gpu::MachineSpec& spec = context.machine.spec();
  const sim::Bytes asked = context.machine.options().burst;
  const sim::Bytes most = sim::min(asked, sim::max(kMost, asked / kShare));
  std::int64_t entries = spec.inc.table_bytes.count() / spec.inc.payload.count();
  if (spec.inc.table_entries > 0) entries = std::min<std::int64_t>(entries, spec.inc.table_entries);
  const net::Blueprint& fabric = context.machine.blueprint();
  const sim::Bytes room = net::smallest_buffer(fabric) / 8;
  const sim::Bytes header = net::largest_header(fabric);
  std::int64_t burst = std::max<std::int64_t>(1, most.count() / packet.count());
  const auto fits = [&](sim::Bytes whole) { return whole.count() % (packet * burst).count() == 0; };
  while (burst > 1 && (burst * 8 > entries || (packet + header) * burst > room ||
                       !fits(spec.fabric.interleave_block) || !fits(spec.inc.wave)))
    burst /= 2;
  return static_cast<int>(burst);
}

inc::RegionPlan region_plan(const Step& step, const ExecutorContext& context, sim::Bytes packet) {
  const Program& program = context.program;
  inc::RegionPlan plan;
  if (step.net != NetOp::kMeet) plan.burst = burst_of(context, packet);
  const sim::Bytes block = packet * plan.burst;
  for (const int gpu : context.gpus) plan.members.push_back(static_cast<net::NodeId>(gpu));
  plan.block = step.net == NetOp::kMeet ? kMeeting : packet;
  plan.bytes = step.net == NetOp::kMeet ? kMeeting : step.bytes;
  if (step.who == NetWho::kOwner) {
    // The share of every rank consists of whole blocks, the last of which may hold less.
    plan.part = sim::Bytes{round_up((step.bytes / program.ranks).count(), block.count())};
    plan.bytes = plan.part * program.ranks;
  }
  if (step.who == NetWho::kExperts) {
    const Tokens tokens(program.tuning.experts, program.bytes, program.ranks);
    plan.part = sim::Bytes{round_up(tokens.size(0).count(), block.count())};
    plan.bytes = plan.part * (std::int64_t{program.ranks} * tokens.count());
    plan.fan_out = tokens.fan_out();
  }
  // Buffers lie at the same place on every GPU as far as the switches are concerned.
  plan.address = context.buffers.output(0) * static_cast<std::uint64_t>(gpu::AddressSpace::kBufferBlock) +
                 static_cast<std::uint64_t>(step.output_offset.count());
  if (context.values != nullptr && step.net != NetOp::kMeet) {
    plan.type = context.values->type();
    plan.op = context.values->op();
  }
  plan.result_to = step.who == NetWho::kAll ? inc::ResultTo::kAll : inc::ResultTo::kHome;
  if (step.who == NetWho::kRoot) plan.root = program.root;
  plan.job = static_cast<int>(context.stream);
  plan.network = context.network();
  return plan;
}

RankRegion::RankRegion(const ExecutorContext& context, int rank, const Step& step, inc::RegionId region,
                       RegionListener& listener)
    : context_(context),
      rank_(rank),
      step_(step),
      part_(context.machine.units()->regions()[region].part()),
      region_(region),
      tokens_(context.program.tuning.experts, context.program.bytes, context.program.ranks),
      listener_(listener) {
  context.gpu(rank).switch_port().join(region, rank, step.net == NetOp::kLoadReduce, *this);
}

RankRegion::~RankRegion() {
  context_.gpu(rank_).switch_port().leave(region_);
}

gpu::UnitTask RankRegion::task() const {
  const auto bytes =
      static_cast<std::uint32_t>(context_.machine.units()->regions()[region_].plan.bytes.count());
  gpu::UnitTask t;
  t.region = region_;
  t.end = bytes;
  switch (step_.net) {
    case NetOp::kMeet:
    case NetOp::kReduceWrite:
      t.op = gpu::UnitOp::kPush;
      return t;
    case NetOp::kLoadReduce:
      t.op = step_.who == NetWho::kAll ? gpu::UnitOp::kPullMulticast : gpu::UnitOp::kPull;
      break;
    case NetOp::kMulticast:
    case NetOp::kNone:
      t.op = gpu::UnitOp::kMulticast;
      break;
  }
  if (tokens()) return t;  // it goes over all tokens, and says of each whether it sends it
  // The rank works on its own part; if one rank works for all, it has everything and the others nothing.
  if (step_.who == NetWho::kRoot) {
    t.end = rank_ == context_.program.root ? bytes : 0;
  } else {
    t.begin = std::min(bytes, part_ * static_cast<std::uint32_t>(rank_));
    t.end = std::min(bytes, part_ * static_cast<std::uint32_t>(rank_ + 1));
  }
  return t;
}

sim::Bytes RankRegion::of_experts() const {
  sim::Bytes sum;
  for (int whose = 0; whose < context_.program.ranks; ++whose) {
    for (int t = 0; t < tokens_.count(); ++t) {
      if (tokens_.goes_to(whose, t, rank_)) sum += tokens_.size(t);
    }
  }
  return sum;
}

/// Tokens are sent by their rank, and contributions to them by those that have experts of them. A sum that is
/// asked for is asked for by the token's rank.
bool RankRegion::sends(std::uint32_t part) {
  if (!tokens()) return true;
  if (step_.net == NetOp::kReduceWrite) return tokens_.goes_to(whose(part), token(part), rank_);
  return whose(part) == rank_;
}

sim::Bytes RankRegion::to_receive() const {
  if (step_.net == NetOp::kMeet) return kMeeting;
  if (tokens()) return step_.net == NetOp::kMulticast ? of_experts() : tokens_.share();
  if (step_.net == NetOp::kMulticast || step_.who == NetWho::kAll) return step_.bytes;
  if (step_.who == NetWho::kOwner) return step_.bytes / context_.program.ranks;
  return rank_ == context_.program.root ? step_.bytes : sim::Bytes{};
}

sim::Bytes RankRegion::to_reply() const {
  if (step_.net != NetOp::kLoadReduce) return {};
  return tokens() ? of_experts() : step_.bytes;
}

sim::Bytes RankRegion::part_bytes(std::uint32_t part) {
  if (step_.net == NetOp::kMeet) return kMeeting;
  if (tokens()) return tokens_.size(token(part));
  if (step_.who == NetWho::kOwner) return step_.bytes / context_.program.ranks;
  const sim::Bytes begin = sim::Bytes{part_} * part;
  return sim::max(sim::Bytes{}, sim::min(step_.bytes - begin, sim::Bytes{part_}));
}

std::uint64_t RankRegion::input_at(std::uint32_t part) const {
  if (tokens()) {
    const sim::Bytes at = tokens_.begin(token(part));
    return static_cast<std::uint64_t>(
        (step_.net == NetOp::kMulticast ? at : at + tokens_.share() * whose(part)).count());
  }
  sim::Bytes at = step_.input_offset;
  if (step_.who != NetWho::kOwner) {
    at += sim::Bytes{part_} * part;
  } else if (step_.net != NetOp::kMulticast) {
    at += step_.stride * part;
  }
  return static_cast<std::uint64_t>(at.count());
}

std::uint64_t RankRegion::output_at(std::uint32_t part) const {
  if (tokens()) {
    const sim::Bytes at = tokens_.begin(token(part));
    return static_cast<std::uint64_t>(
        (step_.net == NetOp::kMulticast ? at + tokens_.share() * whose(part) : at).count());
  }
  sim::Bytes at = step_.output_offset;
  if (step_.who != NetWho::kOwner) {
    at += sim::Bytes{part_} * part;
  } else if (step_.net == NetOp::kMulticast) {
    at += step_.stride * part;
  }
  return static_cast<std::uint64_t>(at.count());
}

gpu::Place RankRegion::reads_from(std::uint32_t part) {
  return {context_.buffers.input(rank_), input_at(part)};
}

gpu::Place RankRegion::writes_to(std::uint32_t part) {
  return {context_.buffers.output(rank_), output_at(part)};
}

void RankRegion::produce(std::uint32_t offset, std::span<std::byte> out) {
  if (step_.net == NetOp::kMeet) {
    std::ranges::fill(out, std::byte{});
    return;
  }
  const std::uint32_t part = offset / part_;
  const auto from = context_.values->input(rank_).subspan(input_at(part) + offset % part_, out.size());
  std::ranges::copy(from, out.begin());
}

/// An average is divided where it is stored.
void RankRegion::consume(std::uint32_t offset, std::span<const std::byte> values) {
  if (step_.net == NetOp::kMeet) return;
  const std::uint32_t part = offset / part_;
  Values& v = *context_.values;
  const auto to = v.memory(rank_).subspan(output_at(part) + offset % part_, values.size());
  std::ranges::copy(values, to.begin());
  if (step_.net != NetOp::kMulticast && v.op() == ReduceOp::kAvg) divide(v.type(), to, v.ranks());
}

}  // namespace infold::coll
