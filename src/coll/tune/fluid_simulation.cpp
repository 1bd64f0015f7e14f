// Waits, loads, sends: what happens to each slice, in order of time.
#include "coll/tune/fluid_simulation.h"

#include <algorithm>
#include <cmath>

#include "coll/program/chunking.h"

namespace infold::coll {

namespace {
constexpr double kUnbound = 1e6;  // bytes a picosecond: faster than anything
double per_ps(sim::Bandwidth b) {
  return static_cast<double>(b.count_bytes_per_s()) * 1e-12;
}
}  // namespace

sim::Time FluidSimulation::run(sim::Time limit, const std::function<bool()>& keep_going) {
  constexpr std::uint32_t kMomentsBetweenLooks = 1024;
  std::uint32_t moments = 0;
  for (std::size_t w = 0; w < walkers_.size(); ++w) poke(w, sim::Time{});
  sim::Time now;
  while (true) {
    if (!pokes_.empty() && pokes_.top().at <= now) {
      const std::size_t walker = pokes_.top().walker;
      pokes_.pop();
      look(walker, now);
    } else if (fluid_.ends_by(now)) {
      end_flow(fluid_.end_next(), now);
    } else {
      const sim::Time flow = fluid_.next();
      if (pokes_.empty() && flow == sim::Time::never()) break;
      now = pokes_.empty() ? flow : sim::min(pokes_.top().at, flow);
      if (now >= limit) break;
      if (++moments % kMomentsBetweenLooks == 0 && keep_going && !keep_going()) break;
    }
  }
  sim::Time end;
  for (std::size_t w = 0; w < walkers_.size(); ++w) {
    // It can not end, or not before the limit; what is left when all is sent are slots given back.
    if (walkers_[w].step < program_.lists[w].size() || !walkers_[w].queue.empty()) return sim::Time::never();
    end = sim::max(end, walkers_[w].done);
  }
  return machine_.gpu.launch_gap + costs_.start + end;
}

/// Does what the walker can do now, until there is nothing.
void FluidSimulation::look(std::size_t walker, sim::Time now) {
  while (end_sending(walker, now) || begin_sending(walker, now) || issue(walker, now) || take(walker, now)) {
  }
}

/// When everything that a step receives is there; never, if that is not known yet.
sim::Time FluidSimulation::inputs_there(const Walker& w, const Step& s) const {
  sim::Time last;
  for (int i = 0; i < s.from.size(); ++i) {
    const Pipe& in = pipe(w, w.step, i);
    last = sim::max(last, in.sent > in.taken ? in.slots[in.taken % slots_].last : sim::Time::never());
  }
  return last;
}

/// Takes up the next slice, if what it waits for is there; otherwise somebody will poke again.
bool FluidSimulation::take(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  const auto& list = program_.lists[walker];
  if (w.busy || w.free > now || w.step == list.size()) return false;
  const Step& s = list[w.step];
  for (int i = 0; i < s.from.size(); ++i) {
    const Pipe& in = pipe(w, w.step, i);
    if (in.sent == in.taken) return false;
    const Slot& slot = in.slots[in.taken % slots_];
    if ((polls(s) ? slot.first : slot.last) > now) return false;
  }
  for (int i = 0; i < s.to.size(); ++i) {
    const Pipe& out = pipe(w, w.step, s.from.size() + i);
    if (out.sent - out.taken == slots_) return false;
    if (out.sent >= slots_ && out.slots[out.sent % slots_].freed > now) return false;
  }
  w.busy = true;
  if (s.only_flags()) {
    pass_flags(walker, s, now);
    w.sends = false;
    w.issues_at = now;
    return true;
  }
  const sim::Bytes slice = sim::min(slice_of(program_.tuning, s.bytes), s.bytes - w.begin);
  const bool adds_first = program_.engine == Engine::kDma && s.loads() > 1;
  const sim::Time added = adds_first ? now + adding_time(slice, s.loads()) : now;
  const sim::Time start = added + costs_.command;
  const bool loads = polls(s) ? s.uses_input || s.uses_held : s.loads() > 0;
  sim::Time trip = loads ? machine_.gpu.l2.latency + machine_.gpu.hbm.access : sim::Time{};
  // What is polled for is here when it is seen, and own data were loaded while it was waited for.
  const bool waited = polls(s) && s.receives();
  if (waited) trip = sim::max(trip, poll());
  const auto wire = static_cast<double>(encoding_.wire(slice).count());
  const auto trips = static_cast<std::int64_t>(std::ceil(wire / window_));
  const sim::Time ready = waited ? start : start + trip;
  const sim::Time loaded = ready + trip * (trips - 1);
  w.sends = !adds_first;  // the engines send while the next slice is added
  w.issues_at = adds_first ? added : loaded;
  poke(walker, w.issues_at);
  Sending sending;
  sending.step = w.step;
  sending.wire = wire;
  sending.ready = ready;
  sending.loaded = loaded;
  sending.most = trip > sim::Time{} ? window_ / static_cast<double>(trip.count_ps()) : kUnbound;
  if (program_.engine == Engine::kSm) {
    const gpu::GpuSpec& gpu = machine_.gpu;
    const double port = static_cast<double>(gpu.sm_port.count() * gpu.clock.count_hz()) * 1e-12;
    sending.most = std::min(sending.most, port / s.loads());
  }
  plan_flows(walker, s, sending);
  for (int i = 0; i < s.to.size(); ++i) {
    Pipe& out = pipe(w, w.step, s.from.size() + i);
    out.slots[out.sent % slots_].first = out.slots[out.sent % slots_].last = sim::Time::never();
    sending.slots.push_back(out.sent++ % slots_);
  }
  w.queue.push_back(std::move(sending));
  poke(walker, w.queue.back().ready);
  return true;
}

/// The last slice is read and what is left of it fits the window: its slots are free, the next may come.
bool FluidSimulation::issue(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (!w.busy || now < w.issues_at) return false;
  const Step& s = program_.lists[walker][w.step];
  if (w.sends && !w.queue.back().tail) return false;
  if (polls(s) && inputs_there(w, s) > now) return false;
  if (w.sends) w.queue.back().issued = true;
  give_back(walker, s, now);
  w.busy = false;
  w.free = now;
  w.done = sim::max(w.done, now);
  const sim::Bytes slice = sim::min(slice_of(program_.tuning, s.bytes), s.bytes - w.begin);
  w.begin += slice;
  if (w.begin >= s.bytes) {
    w.begin = {};
    ++w.step;
  }
  return true;
}

void FluidSimulation::give_back(std::size_t walker, const Step& s, sim::Time now) {
  const Walker& w = walkers_[walker];
  for (int i = 0; i < s.from.size(); ++i) {
    Pipe& in = pipe(w, w.step, i);
    const sim::Time freed = now + ways_[in.way].latency + costs_.poll;
    in.slots[in.taken++ % slots_].freed = freed;
    poke(in.sender, freed);
  }
}

void FluidSimulation::pass_flags(std::size_t walker, const Step& s, sim::Time now) {
  const Walker& w = walkers_[walker];
  for (int i = 0; i < s.to.size(); ++i) {
    Pipe& out = pipe(w, w.step, s.from.size() + i);
    const sim::Time seen = now + ways_[out.way].latency + poll();
    out.slots[out.sent++ % slots_] = {seen, seen, {}};
    poke(out.receiver, seen);
  }
}

/// One flow a receiver, or one that stays here. What is loaded and stored once counts once for all.
void FluidSimulation::plan_flows(std::size_t walker, const Step& s, Sending& sending) const {
  const Walker& w = walkers_[walker];
  const std::size_t rank = walker / static_cast<std::size_t>(program_.channels);
  const double together = sent_together(walker, w.step, sending.wire);
  const bool on_chip = program_.engine == Engine::kAce;
  const int received = on_chip ? 0 : s.from.size();
  const double here = received + int{s.uses_input} + int{s.uses_held} + int{s.writes_output};
  const double flows = std::max(s.to.size(), 1);
  for (int i = 0; i < std::max(s.to.size(), 1); ++i) {
    auto& shares = sending.ways.emplace_back();
    if (here > 0) shares.push_back({memories_[rank], here / flows});
    if (!s.sends()) continue;
    const Pipe& out = pipe(w, w.step, s.from.size() + i);
    const double slower = 1 + unevenness(out, sending.wire, together);
    for (const net::Fluid::Share& link : ways_[out.way].shares)
      shares.push_back({link.resource, link.weight * slower});
    if (!on_chip || s.lands) shares.push_back({memories_[static_cast<std::size_t>(s.to[i])], 1});
  }
}

/// The first slice of the queue begins to leave.
bool FluidSimulation::begin_sending(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (w.queue.empty() || w.queue.front().begun || w.queue.front().ready > now) return false;
  Sending& sending = w.queue.front();
  sending.begun = true;
  const Step& s = program_.lists[walker][sending.step];
  for (int i = 0; encoding_.flags_inside && !s.lands && i < s.to.size(); ++i) {
    Pipe& out = pipe(w, sending.step, s.from.size() + i);
    Slot& slot = out.slots[sending.slots[static_cast<std::size_t>(i)]];
    slot.first = now + ways_[out.way].latency + first_piece(sending.wire, ways_[out.way].slowest) + poll();
    poke(out.receiver, slot.first);
  }
  // What fits the window at the end leaves while the walker is free.
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

/// All of the first slice has left: its receivers will see it, and the next may leave.
bool FluidSimulation::end_sending(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (w.queue.empty() || !w.queue.front().gone) return false;
  const Sending& sending = w.queue.front();
  const Step& s = program_.lists[walker][sending.step];
  if (w.sends && w.busy && w.queue.size() == 1) return false;  // not all of it has come in yet
  for (int i = 0; i < s.to.size(); ++i) {
    Pipe& out = pipe(w, sending.step, s.from.size() + i);
    const sim::Time way = ways_[out.way].latency;
    Slot& slot = out.slots[sending.slots[static_cast<std::size_t>(i)]];
    if (encoding_.flags_inside && !s.lands) {
      slot.last = sim::max(slot.first, now + way + poll());
      w.done = sim::max(w.done, now + way * 2);
    } else {
      // Written, acknowledged, fenced, and only then announced.
      const sim::Time announced = now + way * 2 + costs_.fence;
      slot.first = slot.last = announced + way + poll();
      w.done = sim::max(w.done, announced);
    }
    poke(out.receiver, slot.last);
  }
  w.queue.pop_front();
  return true;
}

/// A slice is there when its slowest link has brought its part. Its blocks go round the links, from one
/// that chance (or a hash, in every round) picks: how much more than the mean a link may get, one
/// deviation.
double FluidSimulation::unevenness(const Pipe& out, double wire, double together) const {
  const net::FabricSpec& fabric = machine_.fabric;
  const double lanes = ways_[out.way].lanes;
  if (lanes < 2 || out.rivals <= 0) return 0;
  const double rounds = wire / static_cast<double>(fabric.interleave_block.count()) / lanes;
  const double partial = rounds - std::floor(rounds);
  // Hashed, what is less than a round lies in one or two, and what is more ends somewhere in its last.
  const double part = std::min(rounds, 1.0);
  const bool hashed = fabric.interleave == net::Interleave::kHash;
  const double variance = hashed ? part * (1 - part / 2) : partial * (1 - partial);
  const double pieces = out.rivals * together;
  return std::sqrt(pieces * variance) / (pieces * rounds);
}

/// Slices that a walker sends one after the other without waiting are under way together, as far as they fit
/// its window, and even each other out.
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

/// A short kernel that adds a slice: its launch, and its workgroups' loads through their SMs' ports.
sim::Time FluidSimulation::adding_time(sim::Bytes slice, int loads) const {
  const gpu::GpuSpec& gpu = machine_.gpu;
  const sim::Bandwidth port = sim::Bandwidth::bytes_per_s(gpu.sm_port.count() * gpu.clock.count_hz());
  return gpu.launch_gap + gpu.sm.workgroup_start + gpu.l2.latency + gpu.hbm.access +
         sim::Pace(port).time(slice * loads / program_.tuning.add_workgroups);
}

FluidSimulation::FluidSimulation(const gpu::MachineSpec& machine, const net::Blueprint& fabric,
                                 const net::Routes& routes, const Program& program, std::span<const int> gpus)
    : machine_(machine),
      program_(program),
      encoding_(program.encoding()),
      costs_(costs_of(program, machine)),
      window_(static_cast<double>(costs_.window.count())),
      slots_(static_cast<std::size_t>(buffer_slots(program.tuning))),
      walkers_(program.lists.size()) {
  // A packet costs its header, and its acknowledgement the other way, where the traffic is the same.
  const double through = through_switches(fabric);
  for (const net::LinkType& type : fabric.link_types) {
    const double data = per_ps(type.rate) * static_cast<double>(costs_.payload.count()) /
                        static_cast<double>((costs_.payload + type.packet.header + type.packet.ack).count());
    link_rates_.push_back(data * through);
  }
  for (int rank = 0; rank < program.ranks; ++rank) memories_.push_back(fluid_.add_resource(memory_rate()));
  connect(fabric, routes, gpus);
  count_rivals();
}

FluidSimulation::Costs FluidSimulation::costs_of(const Program& program, const gpu::MachineSpec& machine) {
  const gpu::GpuSpec& gpu = machine.gpu;
  const sim::Bytes window = program.tuning.in_flight_per_thread * program.tuning.threads;
  switch (program.engine) {
    case Engine::kDma:
      return {{}, gpu.copy.command, gpu.copy.signal, gpu.poll, gpu.copy.in_flight, gpu.copy.payload};
    case Engine::kAce:
      return {gpu.ace.start, {}, {}, {}, window, gpu.copy.payload};
    default:
      return {gpu.launch, {}, gpu.fence, gpu.poll, window, machine.fabric.packet.payload};
  }
}

}  // namespace infold::coll
