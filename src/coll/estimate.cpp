// Shares of links first, then a walk through the steps of all ranks.
#include "coll/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "coll/chunking.h"

namespace infold::coll {

Estimator::Estimator(const gpu::MachineSpec& machine, const net::Blueprint& fabric, const net::Routes& routes)
    : machine_(machine), fabric_(fabric), routes_(routes) {}

/// All links that the packets of one flow spread over, hop by hop.
Estimator::Way Estimator::way(int from, int to) const {
  Way way;
  std::map<net::NodeId, double> at = {{static_cast<net::NodeId>(from), 1.0}};
  while (!at.contains(static_cast<net::NodeId>(to))) {
    std::map<net::NodeId, double> next;
    for (const auto& [node, share] : at) {
      const auto links = routes_.candidates(routes_.hop(node, static_cast<net::NodeId>(to)));
      for (const net::LinkId link : links) {
        const net::Cable& cable = fabric_.cables[link / 2];
        const double part = share / static_cast<double>(links.size());
        next[link % 2 == 0 ? cable.b : cable.a] += part;
        way.crossings.push_back({link, part});
      }
    }
    way.latency += machine_.fabric.link.latency;
    if (!fabric_.is_gpu(next.begin()->first)) way.latency += machine_.fabric.switch_chip.latency;
    at = std::move(next);
  }
  return way;
}

/// One program on its way. Each rank's channel is a walker; between two walkers there is a pipe of slots.
class Estimator::Walk {
 public:
  Walk(const Estimator& e, const Program& program, std::span<const int> gpus)
      : machine_(e.machine_),
        program_(program),
        encoding_(encoding_of(program.tuning.protocol)),
        window_(program.tuning.in_flight_per_thread * program.tuning.threads),
        slots_(static_cast<std::size_t>(buffer_slots(program.tuning))),
        walkers_(program.lists.size()) {
    connect(e, gpus);
    share_links(e);
  }

  sim::Time run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t w = 0; w < walkers_.size(); ++w) {
        while (walkers_[w].step < program_.lists[w].size() && advance(w)) moved = true;
      }
    }
    sim::Time end;
    for (std::size_t w = 0; w < walkers_.size(); ++w) {
      if (walkers_[w].step < program_.lists[w].size()) return sim::Time::never();  // it can not end
      end = sim::max(end, walkers_[w].done);
    }
    return machine_.gpu.launch_gap + machine_.gpu.launch + sim::max(end, memory_time());
  }

 private:
  struct Slot {
    sim::Time first;  // the receiver sees the first data
    sim::Time last;   // and all of them
    sim::Time freed;  // the sender sees that it is free again
  };
  struct Pipe {
    std::vector<Slot> slots;
    std::size_t sent = 0;
    std::size_t taken = 0;
    std::size_t way = 0;
    double load = 0;  // of its sender's stores, the share that goes this way
    double bytes = 0;
    sim::Pace pace;
    double lanes = 1;   // links it spreads over as it leaves
    double rivals = 1;  // stores that spread over the same
    std::size_t sender = 0;
  };
  struct Walker {
    std::size_t step = 0;
    sim::Bytes begin;
    sim::Time free;       // the last slice was issued
    sim::Time sending;    // and has left for the wire
    sim::Time first_out;  // its first data had
    sim::Time done;
    std::vector<std::size_t> pipes;  // of its steps in turn: from, then to
    std::vector<std::size_t> first;
  };

  void connect(const Estimator& e, std::span<const int> gpus) {
    std::map<std::array<int, 3>, std::size_t> known;
    std::map<std::array<int, 2>, std::size_t> known_ways;
    const auto pipe = [&](int from, int to, int channel) {
      const auto [place, added] = known.try_emplace({from, to, channel}, pipes_.size());
      if (!added) return place->second;
      const auto [way, is_new] = known_ways.try_emplace({from, to}, ways_.size());
      if (is_new)
        ways_.push_back(e.way(gpus[static_cast<std::size_t>(from)], gpus[static_cast<std::size_t>(to)]));
      Pipe p;
      p.slots.resize(slots_);
      p.way = way->second;
      p.sender = static_cast<std::size_t>(from) * static_cast<std::size_t>(program_.channels) +
                 static_cast<std::size_t>(channel);
      pipes_.push_back(std::move(p));
      return place->second;
    };
    for (std::size_t w = 0; w < walkers_.size(); ++w) {
      const int rank = static_cast<int>(w) / program_.channels;
      const int channel = static_cast<int>(w) % program_.channels;
      for (const Step& s : program_.lists[w]) {
        walkers_[w].first.push_back(walkers_[w].pipes.size());
        for (int from : s.from) walkers_[w].pipes.push_back(pipe(from, rank, channel));
        for (int to : s.to) {
          walkers_[w].pipes.push_back(pipe(rank, to, channel));
          pipes_[walkers_[w].pipes.back()].bytes += static_cast<double>(s.bytes.count());
        }
      }
    }
  }

  /// A walker sends one slice at a time, to one or several; how its stores are divided over its pipes says
  /// how many of all walkers' stores compete for a link.
  void share_links(const Estimator& e) {
    std::vector<double> through(walkers_.size());  // bytes that pass a walker and are sent on, once or more
    for (std::size_t w = 0; w < walkers_.size(); ++w) {
      for (const Step& s : program_.lists[w])
        through[w] += s.sends() ? static_cast<double>(s.bytes.count()) : 0;
    }
    std::vector<double> competing(e.fabric_.cables.size() * 2);
    for (Pipe& p : pipes_) {
      p.load = through[p.sender] > 0 ? p.bytes / through[p.sender] : 0;
      for (const Crossing& c : ways_[p.way].crossings) competing[c.link] += p.load * c.share;
    }
    // A packet costs its header, and its acknowledgement the other way, where the traffic is the same.
    const net::PacketSpec& packet = machine_.fabric.packet;
    const double payload = static_cast<double>(packet.payload.count()) /
                           static_cast<double>((packet.payload + packet.header + packet.ack).count());
    for (Pipe& p : pipes_) {
      double most = 0;
      for (const Crossing& c : ways_[p.way].crossings) most = std::max({most, competing[c.link], c.share});
      p.lanes = std::round(1 / ways_[p.way].crossings.front().share);
      p.rivals = competing[ways_[p.way].crossings.front().link] * p.lanes;
      const double rate =
          static_cast<double>(machine_.fabric.link.rate.count_bytes_per_s()) * payload / std::max(most, 1e-9);
      p.pace =
          sim::Pace(sim::Bandwidth::bytes_per_s(std::max<std::int64_t>(1, static_cast<std::int64_t>(rate))));
    }
  }

  /// Takes one slice, if those it depends on have been walked.
  bool advance(std::size_t index) {
    Walker& w = walkers_[index];
    const Step& s = program_.lists[index][w.step];
    const auto inbound = [&](int i) -> Pipe& {
      return pipes_[w.pipes[w.first[w.step] + static_cast<std::size_t>(i)]];
    };
    const auto outbound = [&](int i) -> Pipe& { return inbound(s.from.size() + i); };
    const bool polls = encoding_.flags_inside && !s.only_flags();
    sim::Time start = w.free;
    sim::Time first;
    sim::Time last;
    for (int i = 0; i < s.from.size(); ++i) {
      const Pipe& in = inbound(i);
      if (in.sent == in.taken) return false;
      const Slot& slot = in.slots[in.taken % slots_];
      first = sim::max(first, slot.first);
      last = sim::max(last, slot.last);
    }
    for (int i = 0; i < s.to.size(); ++i) {
      const Pipe& out = outbound(i);
      if (out.sent - out.taken == slots_) return false;
      if (out.sent >= slots_) start = sim::max(start, out.slots[out.sent % slots_].freed);
    }
    if (!polls) start = sim::max(start, last);

    const sim::Bytes slice = sim::min(slice_of(program_.tuning, s.bytes), s.bytes - w.begin);
    if (s.only_flags()) {
      w.free = w.sending = start;
    } else {
      pass_through(w, s, slice, start, polls, first, last, outbound);
    }
    for (int i = 0; i < s.to.size(); ++i) send(outbound(i), w, s);
    for (int i = 0; i < s.from.size(); ++i) {
      Pipe& in = inbound(i);
      in.slots[in.taken++ % slots_].freed = w.free + ways_[in.way].latency + machine_.gpu.poll;
    }
    w.done = sim::max(w.done, w.sending);
    w.begin += slice;
    if (w.begin >= s.bytes) {
      w.begin = {};
      ++w.step;
    }
    return true;
  }

  /// Loads a window's worth after the other, as they come and as the links take them.
  template <class Outbound>
  void pass_through(Walker& w, const Step& s, sim::Bytes slice, sim::Time start, bool polls, sim::Time first,
                    sim::Time last, Outbound outbound) {
    const sim::Bytes wire = encoding_.wire(slice);
    const bool loads = polls ? s.uses_input || s.uses_held : s.loads() > 0;
    sim::Time trip = loads ? machine_.gpu.l2.latency + machine_.gpu.hbm.access : sim::Time{};
    if (polls && s.receives()) trip = sim::max(trip, poll());
    const std::int64_t trips = (wire.count() + window_.count() - 1) / window_.count();
    const sim::Time begin = sim::max(sim::max(start + trip, first), w.sending);
    sim::Time sent = begin;
    sim::Time held;  // how long the window's last bytes wait for the wire
    for (int i = 0; i < s.to.size(); ++i) {
      const Pipe& out = outbound(i);
      sent = sim::max(sent, begin + out.pace.time(sim::Bytes{static_cast<std::int64_t>(
                                        static_cast<double>(wire.count()) * (1 + unevenness(out, wire)))}));
      held = sim::max(held, out.pace.time(sim::min(window_, wire)));
    }
    w.first_out = begin;
    w.sending = sim::max(sim::max(sent, start + trip * trips), polls ? last : sim::Time{});
    w.free = sim::max(sim::max(start + trip * trips, polls ? last : sim::Time{}), w.sending - held);
  }

  /// A slice is there when its slowest link has brought its part. Its blocks go round the links, from one
  /// that chance (or a hash, in every round) picks: how much more than the mean a link may get, one
  /// deviation.
  double unevenness(const Pipe& out, sim::Bytes wire) const {
    const net::FabricSpec& fabric = machine_.fabric;
    const double blocks =
        static_cast<double>(wire.count()) / static_cast<double>(fabric.interleave_block.count());
    if (out.lanes < 2 || out.rivals <= 0) return 0;
    const double rounds = blocks / out.lanes;
    const double partial = rounds - std::floor(rounds);
    // Hashed, what is less than a round lies in one or two, and what is more ends somewhere in its last.
    const double part = std::min(rounds, 1.0);
    const bool hashed = fabric.interleave == net::Interleave::kHash;
    const double variance = hashed ? part * (1 - part / 2) : partial * (1 - partial);
    return std::sqrt(out.rivals * variance) / (out.rivals * rounds);
  }

  void send(Pipe& out, Walker& w, const Step& s) {
    const sim::Time way = ways_[out.way].latency;
    Slot& slot = out.slots[out.sent++ % slots_];
    if (encoding_.flags_inside || s.only_flags()) {
      slot.first = (s.only_flags() ? w.free : w.first_out) + way + poll();
      slot.last = w.sending + way + poll();
      w.done = sim::max(w.done, w.sending + way * 2);
    } else {
      // Written, acknowledged, fenced, and only then announced.
      const sim::Time announced = w.sending + way * 2 + machine_.gpu.fence;
      slot.first = slot.last = announced + way + poll();
      w.done = sim::max(w.done, announced);
    }
  }

  /// From data's or a flag's being there to a warp's having them.
  sim::Time poll() const { return machine_.gpu.poll * encoding_.reads; }

  /// What all loads and stores of the busiest GPU take.
  sim::Time memory_time() const {
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(program_.ranks));
    for (std::size_t l = 0; l < program_.lists.size(); ++l) {
      const std::size_t rank = l / static_cast<std::size_t>(program_.channels);
      for (const Step& s : program_.lists[l]) {
        const std::int64_t wire = encoding_.wire(s.bytes).count();
        if (!s.landed)
          bytes[rank] += s.bytes.count() * (int{s.uses_input} + int{s.uses_held} + int{s.writes_output}) +
                         wire * s.from.size();
        for (int to : s.to) bytes[static_cast<std::size_t>(to)] += wire;
      }
    }
    return sim::Pace(machine_.gpu.hbm.bandwidth).time(sim::Bytes{*std::ranges::max_element(bytes)});
  }

  const gpu::MachineSpec& machine_;
  const Program& program_;
  gpu::Encoding encoding_;
  sim::Bytes window_;
  std::size_t slots_;
  std::vector<Way> ways_;
  std::vector<Pipe> pipes_;
  std::vector<Walker> walkers_;
};

sim::Time Estimator::time(const Program& program, std::span<const int> gpus) const {
  return Walk(*this, program, gpus).run();
}

}  // namespace infold::coll
