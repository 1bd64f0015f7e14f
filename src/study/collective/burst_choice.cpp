// Estimates what a run packet by packet would cost, and what bursts would distort.
#include "study/collective/burst_choice.h"

#include <algorithm>
#include <optional>

#include "coll/program/chunking.h"
#include "study/collective/collective_run.h"

namespace infold::study {

namespace {

/// The largest number of bytes that a workgroup moves at a time.
sim::Bytes largest_slice(const coll::Program& program) {
  sim::Bytes largest;
  for (const auto& list : program.lists) {
    for (const coll::Step& s : list)
      largest = sim::max(largest, sim::min(coll::slice_of(program.tuning, s.bytes), s.bytes));
  }
  return largest;
}

/// Ranks with little data go in lock step: workgroups that share a link packet by packet end their slices
/// together and wait together. Bursts would let some get ahead, and be up to 8 % off.
bool in_lock_step(const coll::Program& program) {
  constexpr sim::Bytes kSmallSlice = sim::Bytes::kib(32);
  return largest_slice(program) <= kSmallSlice;
}

/// Whether some rank sends to more than one other.
bool spreads(const coll::Program& program) {
  for (int rank = 0; rank < program.ranks; ++rank) {
    std::optional<int> only;
    for (int channel = 0; channel < program.channels; ++channel) {
      for (const coll::Step& s : program.steps(rank, channel)) {
        for (const int to : s.to) {
          if (only.value_or(to) != to) return true;
          only = to;
        }
      }
    }
  }
  return false;
}

/// Data that are pushed meet at the adders of one port, which are hardly faster than a link. Several packets
/// that are added as one keep others waiting for longer than one packet would, and sums are up to 11 % late.
bool adders_are_busy(const coll::Program& program, const gpu::MachinePlan& plan) {
  const bool pushes = std::ranges::any_of(program.lists, [](const auto& list) {
    return std::ranges::any_of(list, [](const coll::Step& s) { return s.net == coll::NetOp::kReduceWrite; });
  });
  return pushes && plan.spec().inc.alu_rate < net::fastest_link(plan.blueprint()) * 2;
}

/// The bytes that its steps send, counted on every link on the way. (Packets between nodes are larger, but
/// few.) Requires: rank i runs on gpus[i].
sim::Bytes bytes_over_links(const coll::Program& program, const std::vector<int>& gpus,
                            const gpu::MachinePlan& plan) {
  const auto gpu = [&](int rank) { return gpus[static_cast<std::size_t>(rank)]; };
  sim::Bytes sum;
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      for (const coll::Step& s : program.steps(rank, channel)) {
        if (s.in_network()) sum += s.bytes * plan.routes().diameter();
        for (const int to : s.to) sum += s.bytes * plan.links_between(gpu(rank), gpu(to));
      }
    }
  }
  return sum;
}

/// If consecutive packets go to different outputs of a switch, a long burst holds the others up more than its
/// packets would. So bursts are short where data spread: 1 KiB is within 2 % of packets, 4 KiB is up to 21 %
/// off.
constexpr sim::Bytes kSpreadingBurst = sim::Bytes::kib(1);

/// With up to this many packets over links, an iteration takes some seconds packet by packet.
constexpr std::int64_t kAffordablePacketHops = 40'000'000;

}  // namespace

sim::Bytes bytes_sent(const coll::Program& program) {
  sim::Bytes sum;
  for (const auto& list : program.lists) {
    for (const coll::Step& s : list) {
      sum += s.in_network() ? s.bytes : s.bytes * s.to.size();
    }
  }
  return sum;
}

sim::Bytes packet_payload(const gpu::MachineSpec& machine, const coll::Program& program) {
  if (program.in_network()) return machine.inc.payload;
  return program.engine == coll::Engine::kSm ? machine.fabric.packet.payload : machine.gpu.copy.payload;
}

sim::Bytes choose_burst(const CollectiveJob& job, const std::vector<coll::Program>& programs,
                        const std::vector<std::vector<int>>& groups) {
  const gpu::MachinePlan& plan = job.system->plan();
  const net::Routes& routes = plan.routes();
  std::int64_t packet_hops = 0;  // packets over links in one iteration
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::int64_t payload = packet_payload(job.system->machine, programs[i]).count();
    packet_hops += bytes_over_links(programs[i], groups[i], plan).count() / payload;
  }
  const std::int64_t acknowledged = 2;
  packet_hops *= job.concurrent * acknowledged;
  const auto distorted = [&](const coll::Program& p) {
    return p.in_network() ? adders_are_busy(p, plan) : in_lock_step(p);
  };
  if (job.burst.careful && packet_hops <= kAffordablePacketHops && std::ranges::all_of(programs, distorted))
    return {};
  const sim::Bytes burst = job.burst.for_hops(packet_hops * job.iterations);
  if (!job.burst.automatic || burst <= kSpreadingBurst || routes.diameter() == 1) return burst;
  return std::ranges::any_of(programs, spreads) ? kSpreadingBurst : burst;
}

}  // namespace infold::study
