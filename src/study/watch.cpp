// The counters with their names and units.
#include "study/watch.h"

#include <utility>
#include <vector>

namespace infold::study {

namespace {

constexpr double kGiga = 1e-9;

double hbm_bytes(const gpu::Core& core, gpu::Actor actor) {
  const gpu::Traffic& t = core.memory().traffic()[actor];
  return static_cast<double>(t.hbm_read + t.hbm_written);
}

using Links = std::vector<net::LinkId>;

double wire_bytes(const net::Fabric& network, const Links& links) {
  std::uint64_t sum = 0;
  for (const net::LinkId l : links) sum += network.counters(l).wire_bytes;
  return static_cast<double>(sum);
}

}  // namespace

void watch_core(sim::Sampler& sampler, sim::TraceRecorder& trace, sim::TraceRecorder::TrackId group,
                const gpu::Core& core, const std::function<const gpu::Core&()>& computes) {
  using gpu::Actor;
  sampler.add_rate(trace.counter(group, "SMs of compute", "SMs"), 1, [computes](sim::Time now) {
    return computes().dispatcher().sm_time_until(Actor::kCompute, now).in_s();
  });
  sampler.add_rate(trace.counter(group, "SMs of collectives", "SMs"), 1, [&core](sim::Time now) {
    return core.dispatcher().sm_time_until(Actor::kCollective, now).in_s();
  });
  sampler.add_rate(trace.counter(group, "HBM of compute", "GB/s"), kGiga,
                   [computes](sim::Time) { return hbm_bytes(computes(), Actor::kCompute); });
  sampler.add_rate(trace.counter(group, "HBM of collectives", "GB/s"), kGiga, [&core](sim::Time) {
    return hbm_bytes(core, Actor::kCollective) + hbm_bytes(core, Actor::kCopy);
  });
}

void watch_network(sim::Sampler& sampler, sim::TraceRecorder& trace, const gpu::Machine& machine, int gpus) {
  const net::Fabric& network = machine.network();
  for (int g = 0; g < gpus; ++g) {
    const auto group = trace.group(network.name(static_cast<net::NodeId>(g)));
    Links out;
    Links in;
    for (const auto& outlet : machine.map().outlets(g)) {
      out.push_back(outlet.link);
      in.push_back(net::FabricMap::back(outlet.link));
    }
    sampler.add_level(trace.counter(group, "in flight from here", "bytes"), [&network, out](sim::Time) {
      sim::Bytes sum;
      for (const net::LinkId l : out) sum += network.counters(l).in_flight;
      return static_cast<double>(sum.count());
    });
    sampler.add_rate(trace.counter(group, "links out", "GB/s"), kGiga,
                     [&network, out = std::move(out)](sim::Time) { return wire_bytes(network, out); });
    sampler.add_rate(trace.counter(group, "links in", "GB/s"), kGiga,
                     [&network, in = std::move(in)](sim::Time) { return wire_bytes(network, in); });
  }
  if (machine.units() == nullptr) return;
  for (const auto& unit : machine.units()->units()) {
    const inc::ReductionUnit* u = unit.get();
    const auto group = trace.group(network.name(u->chip()));
    sampler.add_level(trace.counter(group, "reduction table", "entries"),
                      [u](sim::Time) { return static_cast<double>(u->entries_in_use()); });
    sampler.add_level(trace.counter(group, "waiting for room in it", "packets"),
                      [u](sim::Time) { return static_cast<double>(u->packets_stalled()); });
    sampler.add_rate(trace.counter(group, "stalls", "1/us"), 1e-6, [u](sim::Time) {
      std::uint64_t sum = 0;
      for (std::size_t p = 0; p < u->ports(); ++p) sum += u->counters(p).stalls;
      return static_cast<double>(sum);
    });
  }
}

void watch_machine(sim::Sampler& sampler, sim::TraceRecorder& trace, gpu::Machine& machine, int gpus) {
  for (int g = 0; g < gpus; ++g) {
    const auto group = trace.group(machine.network().name(static_cast<net::NodeId>(g)));
    const gpu::Core& core = machine.gpu(g).core();
    watch_core(sampler, trace, group, core, [&core]() -> const gpu::Core& { return core; });
  }
  watch_network(sampler, trace, machine, gpus);
}

}  // namespace infold::study
