// How slices leave: they are flows over links and memories, one slice of a walker after the other.
#include <algorithm>
#include <cmath>

#include "coll/tune/fluid_simulation.h"

namespace infold::coll {

/// Plans one flow per receiver, or one flow that stays on this GPU. What is loaded and stored once counts
/// once for all.
void FluidSimulation::plan_flows(std::size_t walker, const Step& s, Sending& sending) const {
  const Walker& w = walkers_[walker];
  const std::size_t rank = walker / static_cast<std::size_t>(program_.channels);
  const double together = sent_together(walker, sending.step, sending.wire);
  const bool on_chip = program_.engine == Engine::kAce;
  const int received = on_chip ? 0 : s.from.size();
  const double here = received + int{s.uses_input} + int{s.uses_held} + int{s.writes_output};
  const double flows = std::max(s.to.size(), 1);
  for (int i = 0; i < std::max(s.to.size(), 1); ++i) {
    auto& shares = sending.ways.emplace_back();
    if (here > 0) shares.push_back({memories_[rank], here / flows});
    if (!s.sends()) continue;
    const Pipe& out = w.steps.outbound(sending.step, i);
    const double slower = 1 + unevenness(out, sending.wire, together);
    for (const net::Fluid::Share& link : ways_[out.way].shares)
      shares.push_back({link.resource, link.weight * slower});
    if (!on_chip || s.lands) shares.push_back({memories_[static_cast<std::size_t>(s.to[i])], 1});
  }
}

/// Lets the first slice of the queue begin to leave.
bool FluidSimulation::begin_sending(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (w.queue.empty() || w.queue.front().begun || w.queue.front().ready > now) return false;
  Sending& sending = w.queue.front();
  sending.begun = true;
  const Step& s = program_.lists[walker][sending.step];
  for (int i = 0; w.steps.speaks_for_itself(s) && i < s.to.size(); ++i) {
    Pipe& out = w.steps.outbound(sending.step, i);
    Slot& slot = out.slot(sending.numbers[static_cast<std::size_t>(i)]);
    slot.first = now + ways_[out.way].latency + first_piece(sending.wire, ways_[out.way].slowest) + poll();
    poke(out.receiver, slot.first);
  }
  // The part at the end that fits the window leaves while the walker is already free.
  begin_flows(walker, sending, std::max(0.0, 1 - window_ / sending.wire), now);
  return true;
}

void FluidSimulation::begin_flows(std::size_t walker, Sending& sending, double share, sim::Time now) {
  for (const auto& way : sending.ways) {
    const net::Fluid::FlowId flow = fluid_.begin(way, sending.wire * share, sending.most, now);
    if (flow_walker_.size() <= flow) flow_walker_.resize(flow + 1);
    flow_walker_[flow] = walker;
    ++sending.flows;
  }
}

void FluidSimulation::end_flow(net::Fluid::FlowId flow, sim::Time now) {
  const std::size_t walker = flow_walker_[flow];
  Sending& sending = walkers_[walker].queue.front();
  if (--sending.flows > 0) return;
  if (!sending.tail) {
    sending.tail = true;
    begin_flows(walker, sending, std::min(1.0, window_ / sending.wire), now);
  } else {
    sending.gone = true;
  }
  look(walker, now);
}

/// All of the first slice has left: its receivers will see it, and the next slice may leave.
bool FluidSimulation::end_sending(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (w.queue.empty() || !w.queue.front().gone) return false;
  const Sending& sending = w.queue.front();
  const Step& s = program_.lists[walker][sending.step];
  if (w.sends && w.busy && w.queue.size() == 1) return false;  // a part of it has not come in yet
  Backend backend{*this, walker, now};
  for (int i = 0; i < s.to.size(); ++i) {
    const std::uint64_t number = sending.numbers[static_cast<std::size_t>(i)];
    Pipe& out = w.steps.outbound(sending.step, i);
    const sim::Time way = ways_[out.way].latency;
    Slot& slot = out.slot(number);
    if (w.steps.speaks_for_itself(s)) {
      slot.last = sim::max(slot.first, now + way + poll());
      w.done = sim::max(w.done, now + way * 2);
      poke(out.receiver, slot.last);
    } else {
      // The slice is written, acknowledged and fenced, and only then announced.
      const bool between_nodes = ways_[out.way].between_nodes;
      slot.visible = now + (between_nodes ? way : way * 2) + costs_.fence;
      w.done = sim::max(w.done, slot.visible);
      w.steps.complete(sending.step, i, number, backend);
    }
  }
  w.queue.pop_front();
  return true;
}

/// A slice is there when its slowest link has brought its part. Its blocks go round the links, starting at
/// one that is picked at random (or, with hashing, anew in every round). The result is how much more than the
/// mean a link may get: one standard deviation.
double FluidSimulation::unevenness(const Pipe& out, double wire, double together) const {
  const net::FabricSpec& fabric = machine_.fabric;
  const double lanes = ways_[out.way].lanes;
  if (lanes < 2 || out.rivals <= 0) return 0;
  const double rounds = wire / static_cast<double>(fabric.interleave_block.count()) / lanes;
  const double partial = rounds - std::floor(rounds);
  // With hashing, less than one round lies on one or two links, and more than one round ends somewhere in its
  // last.
  const double part = std::min(rounds, 1.0);
  const bool hashed = fabric.interleave == net::Interleave::kHash;
  const double variance = hashed ? part * (1 - part / 2) : partial * (1 - partial);
  const double pieces = out.rivals * together;
  return std::sqrt(pieces * variance) / (pieces * rounds);
}

/// Slices that a walker sends one after the other without waiting are under way together, as far as they fit
/// its window, and their unevenness averages out.
double FluidSimulation::sent_together(std::size_t walker, std::size_t step, double wire) const {
  const auto& list = program_.lists[walker];
  const auto most = static_cast<std::size_t>(std::max(1.0, window_ / wire));
  const auto freely = [&](std::size_t i) { return list[i].sends() && !list[i].receives(); };
  if (!freely(step)) return 1;
  std::size_t first = step;
  std::size_t end = step + 1;
  while (first > 0 && end - first < most && freely(first - 1)) --first;
  while (end < list.size() && end - first < most && freely(end)) ++end;
  return static_cast<double>(end - first);
}

/// What a warp stores at once comes over one link, and is taken when all of it is there.
sim::Time FluidSimulation::first_piece(double wire, double rate) const {
  const auto access = static_cast<double>(encoding_.wire(sim::Bytes{encoding_.access}).count());
  return sim::Time::ps(static_cast<std::int64_t>(std::min(access, wire) / rate));
}

}  // namespace infold::coll
