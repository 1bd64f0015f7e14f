// What happens to each slice, in order of time: waits, loads and flags.
#include "coll/tune/fluid_simulation.h"

#include <algorithm>
#include <cmath>

#include "coll/program/chunking.h"

namespace infold::coll {

namespace {
constexpr double kUnbound = 1e6;  // bytes per picosecond: faster than anything
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
    // The program cannot end, or not before the limit; when all is sent, only slots that are given back may
    // be left.
    if (!walkers_[w].steps.at_end() || !walkers_[w].queue.empty()) return sim::Time::never();
    end = sim::max(end, walkers_[w].done);
  }
  return machine_.gpu.launch_gap + costs_.start + end;
}

/// Does everything that the walker can do now.
void FluidSimulation::look(std::size_t walker, sim::Time now) {
  while (end_sending(walker, now) || begin_sending(walker, now) || issue(walker, now) || take(walker, now)) {
  }
}

/// The time at which everything of the present slice is there; never, if that is not known yet.
sim::Time FluidSimulation::inputs_there(const Walker& w) {
  sim::Time last;
  for (int i = 0; i < w.steps.step().from.size(); ++i) {
    const Pipe& in = w.steps.inbound(w.steps.index(), i);
    last = sim::max(last, in.sent > in.taken ? in.slot(in.taken).last : sim::Time::never());
  }
  return last;
}

/// Takes up the next slice if what it waits for is there; otherwise this is called again when that has come.
bool FluidSimulation::take(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (w.busy || w.steps.at_end()) return false;
  const Step& s = w.steps.step();
  for (int i = 0; i < s.from.size(); ++i) w.steps.inbound(w.steps.index(), i).catch_up(now);
  for (int i = 0; i < s.to.size(); ++i) w.steps.outbound(w.steps.index(), i).catch_up(now);
  Backend backend{*this, walker, now};
  return w.steps.take_up(backend) != StepInterpreter<Pipe>::Took::kNothing;
}

/// Begins to load a slice, and queues it to be sent.
void FluidSimulation::begin_slice(std::size_t walker, const Slice& slice, sim::Time now) {
  Walker& w = walkers_[walker];
  const Step& s = w.steps.step();
  w.busy = true;
  const bool polls = w.steps.carries_flags(s);
  const bool adds_first = program_.engine == Engine::kDma && s.loads() > 1;
  const sim::Time added = adds_first ? now + adding_time(slice.bytes, s.loads()) : now;
  const sim::Time start = added + costs_.command;
  const bool loads = polls ? s.uses_input || s.uses_held : s.loads() > 0;
  sim::Time trip = loads ? machine_.gpu.l2.latency + machine_.gpu.hbm.access : sim::Time{};
  // Data that are polled for are in registers when they are seen, and the rank's own data were loaded during
  // the wait.
  const bool waited = polls && s.receives();
  if (waited) trip = sim::max(trip, poll());
  const auto wire = static_cast<double>(encoding_.wire(slice.bytes).count());
  const auto trips = static_cast<std::int64_t>(std::ceil(wire / window_));
  const sim::Time ready = waited ? start : start + trip;
  const sim::Time loaded = ready + trip * (trips - 1);
  w.sends = !adds_first;  // copy engines send while the next slice is added
  w.issues_at = adds_first ? added : loaded;
  poke(walker, w.issues_at);
  Sending sending;
  sending.step = slice.step;
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
    Pipe& out = w.steps.outbound(slice.step, i);
    sending.numbers.push_back(out.newest());
    out.slot(out.newest()).first = out.slot(out.newest()).last = sim::Time::never();
  }
  w.queue.push_back(std::move(sending));
  poke(walker, w.queue.back().ready);
}

/// The last slice has been read and what is left of it fits the window: its slots are free, and the next
/// slice may come.
bool FluidSimulation::issue(std::size_t walker, sim::Time now) {
  Walker& w = walkers_[walker];
  if (!w.busy || now < w.issues_at) return false;
  if (w.sends && !w.queue.back().tail) return false;
  if (w.steps.carries_flags(w.steps.step()) && inputs_there(w) > now) return false;
  Backend backend{*this, walker, now};
  w.steps.taken(backend);
  w.busy = false;
  w.done = sim::max(w.done, now);
  return true;
}

void FluidSimulation::Backend::pass(const Slice& slice) {
  Walker& w = simulation.walkers_[walker];
  w.done = sim::max(w.done, now);
  for (int i = 0; i < w.steps.step().to.size(); ++i) {
    Pipe& out = w.steps.outbound(slice.step, i);
    out.slot(out.newest()).visible = now;
    out.slot(out.newest()).first = out.slot(out.newest()).last = sim::Time::never();
  }
}

void FluidSimulation::Backend::announce(Pipe& out, std::uint64_t number) {
  Slot& slot = out.slot(number);
  const Way& way = simulation.ways_[out.way];
  slot.first = slot.last = slot.visible + (way.between_nodes ? sim::Time{} : way.latency) + simulation.poll();
  simulation.poke(out.receiver, slot.last);
}

void FluidSimulation::Backend::give_back(Pipe& in, std::uint64_t number) {
  const sim::Time freed = now + simulation.ways_[in.way].back + simulation.costs_.poll;
  in.slot(number).freed = freed;
  simulation.poke(in.sender, freed);
}

/// The time of a short kernel that adds a slice: its launch, and the loads of its workgroups through their
/// SMs' ports.
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
      wiring_(program) {
  // A packet costs its header, and its acknowledgement the other way, where the traffic is the same.
  const double through = through_switches(fabric);
  for (const net::LinkType& type : fabric.link_types) {
    const double data = per_ps(type.rate) * static_cast<double>(costs_.payload.count()) /
                        static_cast<double>((costs_.payload + type.packet.header + type.packet.ack).count());
    link_rates_.push_back(data * through);
  }
  for (int rank = 0; rank < program.ranks; ++rank) memories_.push_back(fluid_.add_resource(memory_rate()));
  pipes_ = connect(fabric, routes, gpus);
  walkers_.reserve(program.lists.size());
  for (std::size_t w = 0; w < program.lists.size(); ++w) {
    walkers_.emplace_back(StepInterpreter<Pipe>::Setup{.steps = &program.lists[w],
                                                       .wiring = &wiring_.channel(w),
                                                       .connections = pipes_,
                                                       .tuning = &program.tuning,
                                                       .flags_inside = encoding_.flags_inside});
  }
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
