// The routes between ranks, as shares of links, and the number of senders that compete for them.
#include <algorithm>
#include <cmath>
#include <set>

#include "coll/program/chunking.h"
#include "coll/tune/fluid_simulation.h"

namespace infold::coll {

namespace {
/// Names links of NICs, which are behind all others.
constexpr net::LinkId kNics = 0x8000'0000;
}  // namespace

/// A slice goes from the sender's proxy over two NICs to the receiver's. Switches between them are taken to
/// have room for all.
FluidSimulation::Way FluidSimulation::way_between_nodes(int from, int to) {
  const gpu::NicSpec& nic = machine_.nic;
  const gpu::HostSpec& host = machine_.host;
  const net::ScaleOutSpec& net = machine_.scale_out;
  const double rate = std::min(nic.rate.in_gbps() * static_cast<double>(nic.mtu.count()) /
                                   static_cast<double>((nic.mtu + nic.header).count()),
                               nic.pcie_rate.in_gbps()) *
                      1e-3;
  Way way;
  for (const net::LinkId end :
       {kNics + 2 * static_cast<net::LinkId>(from), kNics + 2 * static_cast<net::LinkId>(to) + 1}) {
    const auto [place, added] = resources_.try_emplace({end}, 0);
    if (added) place->second = fluid_.add_resource(rate);
    way.shares.push_back({place->second, 1.0});
  }
  way.slowest = rate;
  way.between_nodes = true;
  const sim::Time wire = net.link.latency * 2 + net.switch_chip.latency;
  way.latency = host.notify + host.post + nic.latency + nic.pcie_latency * 3 + wire;
  if (!encoding_.flags_inside) way.latency += host.completion + host.flush + host.wake;
  way.back = host.notify + host.post + wire + nic.pcie_latency + host.post;
  return way;
}

/// Finds all links that the packets of one flow spread over, hop by hop. Parallel links are one resource.
FluidSimulation::Way FluidSimulation::way(const net::Blueprint& fabric, const net::Routes& routes, int from,
                                          int to) {
  // All nodes are alike, and each has links of its own.
  const int own = from / machine_.gpus;
  if (to / machine_.gpus != own) return way_between_nodes(from, to);
  Way way;
  from %= machine_.gpus;
  to %= machine_.gpus;
  const auto end = static_cast<net::NodeId>(to);
  std::map<net::NodeId, double> at = {{static_cast<net::NodeId>(from), 1.0}};
  while (!at.contains(end)) {
    std::map<net::NodeId, double> next;
    sim::Time latency;
    for (const auto& [node, share] : at) {
      const auto links = routes.candidates(routes.hop(node, end));
      std::vector<net::LinkId> key(links.begin(), links.end());
      if (own > 0) key.push_back(kNics - static_cast<net::LinkId>(own));
      const auto [place, added] = resources_.try_emplace(key, 0);
      if (added) place->second = fluid_.add_resource(rate_of(fabric, links));
      if (way.shares.empty()) way.lanes = static_cast<double>(links.size());
      way.shares.push_back({place->second, share});
      for (const net::LinkId link : links) {
        const net::Cable& cable = fabric.cables[link / 2];
        next[link % 2 == 0 ? cable.b : cable.a] += share / static_cast<double>(links.size());
        latency = sim::max(latency, fabric.type_of(cable).latency);
        way.slowest = std::min(way.slowest, link_rates_[cable.type]);
      }
    }
    way.latency += latency;
    // The last bytes count, so of several chips side by side the slowest one decides.
    sim::Time through;
    for (const auto& [node, share] : next) through = sim::max(through, fabric.chip_of(node).latency);
    way.latency += through;
    at = std::move(next);
  }
  way.back = way.latency;
  return way;
}

/// The data per picosecond that these links carry together.
double FluidSimulation::rate_of(const net::Blueprint& fabric, std::span<const net::LinkId> links) const {
  std::vector<int> of_type(link_rates_.size());
  for (const net::LinkId link : links) ++of_type[fabric.cables[link / 2].type];
  double sum = 0;
  for (std::size_t type = 0; type < of_type.size(); ++type)
    sum += link_rates_[type] * static_cast<double>(of_type[type]);
  return sum;
}

/// The bytes per picosecond of memory, or of L2 if everything that a rank touches stays there.
double FluidSimulation::memory_rate() const {
  const gpu::GpuSpec& gpu = machine_.gpu;
  const BufferSizes sizes = buffer_sizes(program_.collective, program_.bytes, program_.ranks);
  const sim::Bytes touched = sizes.input + sizes.output + program_.scratch + program_.bytes;
  const double l2 = static_cast<double>(gpu.l2.slices * gpu.l2.slice_port.count()) *
                    static_cast<double>(gpu.clock.count_hz()) * 1e-12;
  if (touched <= gpu.l2.capacity / gpu.l2.copies) return l2;
  const double refreshed = 1 - gpu.hbm.refresh.in_s() / gpu.hbm.refresh_interval.in_s();
  return std::min(l2, static_cast<double>(gpu.hbm.bandwidth.count_bytes_per_s()) * 1e-12 * refreshed);
}

/// The share of its time in which a switch's input is not blocked by blocks for outputs that others use.
/// Inputs that send to one output each alternate by themselves; with several outputs, a buffer of w blocks
/// can pass on the w-th block when the first must wait. The saturation of such switches is that of Karol,
/// Hluchyj and Morgan 1987 (one block, by number of outputs: 0.75, 0.66, 0.62 for 2, 4, 8; the fit below
/// gives 0.70, 0.63, 0.61) and of Hluchyj and Karol 1988 (by number of blocks, here as a power). It is rough,
/// but only choices depend on it, never a result.
double FluidSimulation::through_switches(const net::Blueprint& fabric) const {
  // The mean number of ranks that a rank sends to at once, over its channels side by side, step by step.
  double sum = 0;
  double bytes = 0;
  for (int rank = 0; rank < program_.ranks; ++rank) {
    std::vector<std::set<int>> others;
    std::vector<double> weights;
    for (int channel = 0; channel < program_.channels; ++channel) {
      std::size_t k = 0;
      for (const Step& s : program_.steps(rank, channel)) {
        if (!s.sends() || s.only_flags()) continue;
        if (k == others.size()) others.emplace_back(), weights.emplace_back();
        others[k].insert(s.to.begin(), s.to.end());
        weights[k++] += static_cast<double>(s.bytes.count() * s.to.size());
      }
    }
    for (std::size_t k = 0; k < others.size(); ++k) {
      sum += static_cast<double>(others[k].size()) * weights[k];
      bytes += weights[k];
    }
  }
  const double outputs = bytes > 0 ? sum / bytes : 1;
  const double one_block = 0.586 + 0.414 / (1 + 2.5 * (outputs - 1));
  const double blocks = std::max(1.0, static_cast<double>(net::smallest_buffer(fabric).count()) /
                                          static_cast<double>(machine_.fabric.interleave_block.count()));
  return 1 - (1 - one_block) / std::pow(blocks, 0.58);
}

std::vector<FluidSimulation::Pipe> FluidSimulation::connect(const net::Blueprint& fabric,
                                                            const net::Routes& routes,
                                                            std::span<const int> gpus) {
  std::vector<Pipe> pipes;
  pipes.reserve(wiring_.connections().size());
  std::map<std::array<int, 2>, std::size_t> known_ways;
  const auto walker_of = [&](int rank, int channel) {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
           static_cast<std::size_t>(channel);
  };
  for (const Wiring::Ends& ends : wiring_.connections()) {
    const auto [known_way, is_new] = known_ways.try_emplace({ends.from, ends.to}, ways_.size());
    if (is_new) {
      ways_.push_back(way(fabric, routes, gpus[static_cast<std::size_t>(ends.from)],
                          gpus[static_cast<std::size_t>(ends.to)]));
    }
    Pipe& p = pipes.emplace_back();
    p.from = ends.from;
    p.to = ends.to;
    p.slots.resize(static_cast<std::size_t>(buffer_slots(program_.tuning)));
    p.way = known_way->second;
    p.sender = walker_of(ends.from, ends.channel);
    p.receiver = walker_of(ends.to, ends.channel);
  }
  return pipes;
}

/// Counts the stores that compete for the first links of each pipe if all walkers send at once, from how the
/// stores of each walker are divided over its pipes.
void FluidSimulation::count_rivals() {
  std::vector<double> through(
      walkers_.size());  // bytes that pass a walker and are sent on, to one receiver or more
  std::vector<double> bytes(pipes_.size());
  for (std::size_t w = 0; w < walkers_.size(); ++w) {
    const Wiring::Channel& wired = wiring_.channel(w);
    for (std::size_t i = 0; i < program_.lists[w].size(); ++i) {
      const Step& s = program_.lists[w][i];
      const auto n = static_cast<double>(s.bytes.count());
      if (s.sends()) through[w] += n;
      for (int t = 0; t < s.to.size(); ++t)
        bytes[wired.connections[wired.first[i] + static_cast<std::size_t>(s.from.size() + t)]] += n;
    }
  }
  std::map<std::uint32_t, double> competing;  // by the resource that pipes begin with
  const auto load = [&](std::size_t p) {
    const double all = through[pipes_[p].sender];
    return all > 0 ? bytes[p] / all : 0;
  };
  for (std::size_t p = 0; p < pipes_.size(); ++p)
    competing[ways_[pipes_[p].way].shares.front().resource] += load(p);
  for (Pipe& p : pipes_) p.rivals = competing[ways_[p.way].shares.front().resource];
}

}  // namespace infold::coll
