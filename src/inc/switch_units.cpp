// Builds a unit for every switch, and adds up their counters.
#include "inc/switch_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace infold::inc {

net::InNetwork in_network(const IncSpec& spec) {
  return {.units = true, .payload = spec.payload, .request = spec.request, .latency = spec.latency};
}

sim::Status check(const IncSpec& spec, const net::FabricSpec& fabric, const net::Blueprint& blueprint) {
  if (spec.table_bytes < spec.payload) {
    return sim::fail(fmt::format("a table of {} bytes does not hold one sum of {}", spec.table_bytes.count(),
                                 spec.payload.count()),
                     "inc.table_bytes");
  }
  if (spec.order == SumOrder::kRank && spec.levels == Levels::kTop) {
    return sim::fail(
        "rank order needs levels: each (contributions that wait for their turn at the top would "
        "keep those before them from coming)",
        "inc.levels");
  }
  const auto whole_packets = [&](const char* path, sim::Bytes bytes) -> sim::Status {
    if (bytes.count() % spec.payload.count() == 0) return {};
    return sim::fail(fmt::format("{} bytes are not whole packets of {} (inc.payload)", bytes.count(),
                                 spec.payload.count()),
                     path);
  };
  if (spec.payload.count() % 16 != 0)
    return sim::fail(fmt::format("{} bytes are not a multiple of 16", spec.payload.count()), "inc.payload");
  if (spec.sm_payload.count() % 16 != 0)
    return sim::fail(fmt::format("{} bytes are not a multiple of 16", spec.sm_payload.count()),
                     "inc.sm_payload");
  if (auto ok = whole_packets("inc.wave", spec.wave); !ok) return ok;
  if (auto ok = whole_packets("fabric.interleave_block", fabric.interleave_block); !ok) return ok;
  if (spec.payload.count() % spec.sm_payload.count() != 0 && spec.sm_payload < spec.payload)
    return sim::fail(fmt::format("{} bytes do not divide the {} of inc.payload", spec.sm_payload.count(),
                                 spec.payload.count()),
                     "inc.sm_payload");
  const sim::Bytes buffer = net::smallest_buffer(blueprint);
  if (const sim::Bytes most = spec.payload + net::largest_header(blueprint); most > buffer) {
    return sim::fail(
        fmt::format("a packet of {} bytes does not fit a buffer of {}", most.count(), buffer.count()),
        "fabric.switch.buffer");
  }
  return {};
}

SwitchUnits::SwitchUnits(const IncSpec& spec, sim::EventQueue& events, const net::FabricMap& map,
                         net::Fabric& fabric, net::Payloads* payloads)
    : spec_(spec), regions_(map, fabric.traits().interleaving, spec_) {
  for (net::SwitchFabric* switches : fabric.all_switches()) {
    for (net::NodeId chip = map.gpus(); chip < map.nodes(); ++chip) {
      units_.push_back(
          std::make_unique<ReductionUnit>(chip, spec_, events, map, *switches, regions_, payloads));
    }
  }
}

SwitchUnits::Totals SwitchUnits::totals() const {
  Totals t;
  for (const auto& u : units_) {
    for (std::size_t port = 0; port < u->ports(); ++port) {
      const ReductionUnit::PortCounters& c = u->counters(port);
      t.table_peak_entries = std::max(t.table_peak_entries, u->table_peak(port));
      t.contributions += c.contributions;
      t.results += c.results;
      t.stalls += c.stalls;
      t.evictions += c.evictions;
      t.bypasses += c.bypasses;
    }
  }
  return t;
}

std::vector<SwitchUnits::OfJob> SwitchUnits::jobs() const {
  std::map<int, OfJob> jobs;
  std::map<std::pair<int, int>, std::uint64_t> stalls;
  for (const auto& u : units_) {
    for (std::size_t port = 0; port < u->ports(); ++port) {
      for (const JobShare& share : u->jobs(port)) {
        OfJob& of = jobs[share.job];
        of.table_peak_entries = std::max<std::uint64_t>(of.table_peak_entries, share.peak);
        of.sums += share.sums;
      }
    }
    for (const ReductionUnit::Stall& s : u->stalls_by_job()) stalls[{s.job, s.holder}] += s.times;
  }
  for (const auto& [who, times] : stalls) jobs[who.first].stalls.emplace_back(who.second, times);
  std::vector<OfJob> all;
  for (auto& [job, of] : jobs) {
    of.job = job;
    all.push_back(std::move(of));
  }
  return all;
}

bool SwitchUnits::drained() const {
  return std::all_of(units_.begin(), units_.end(), [](const auto& u) { return u->drained(); });
}

std::vector<std::string> SwitchUnits::who_waits() const {
  std::vector<std::string> out;
  for (const auto& u : units_) u->who_waits(out);
  return out;
}

}  // namespace infold::inc
