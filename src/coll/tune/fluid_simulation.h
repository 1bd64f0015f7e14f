// A walk through a program's steps in order of time, slice by slice, with the waits that the protocol has and
// with links as a fluid that all slices under way share. Internal to the estimate.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <vector>

#include "coll/program/program.h"
#include "gpu/machine_spec.h"
#include "net/flow/fluid.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"

namespace infold::coll {

class FluidSimulation {
 public:
  /// All must outlive it.
  FluidSimulation(const gpu::MachineSpec& machine, const net::Blueprint& fabric, const net::Routes& routes,
                  const Program& program, std::span<const int> gpus);

  /// From the stream's reaching the collective to the last rank's end; never, if it can not end before
  /// `limit` or `keep_going` says no.
  sim::Time run(sim::Time limit, const std::function<bool()>& keep_going);

 private:
  /// What differs from engine to engine.
  struct Costs {
    sim::Time start;    // from the stream's reaching the collective to the first step
    sim::Time command;  // before a slice's first load
    sim::Time fence;    // from a slice's being visible to the flag that says so
    sim::Time poll;     // from data's or a flag's being there to its being seen
    sim::Bytes window;
    sim::Bytes payload;  // of a packet
  };
  struct Way {
    std::vector<net::Fluid::Share> shares;
    sim::Time latency;
    double lanes = 1;                                          // links it spreads over as it leaves
    double slowest = std::numeric_limits<double>::infinity();  // data a picosecond of one of its links
  };
  /// A slice in a receive buffer.
  struct Slot {
    sim::Time first;  // the receiver sees the first data
    sim::Time last;   // and all of them
    sim::Time freed;  // the sender sees that it is free again
  };
  /// A connection: slots from one walker to another.
  struct Pipe {
    std::vector<Slot> slots;
    std::size_t sent = 0;
    std::size_t taken = 0;
    std::size_t way = 0;
    std::size_t sender = 0;
    std::size_t receiver = 0;
    double rivals = 1;  // stores that spread over the same links, if all send at once
  };
  /// A slice on its way to its receivers.
  struct Sending {
    std::size_t step = 0;
    double wire = 0;
    sim::Time ready;                                   // its first data can leave
    sim::Time loaded;                                  // all of it is loaded
    double most = 0;                                   // bytes a picosecond that its walker loads
    std::vector<std::size_t> slots;                    // of each receiver's pipe
    std::vector<std::vector<net::Fluid::Share>> ways;  // of each flow: links, and memory at both ends
    int flows = 0;                                     // under way
    bool begun = false;
    bool tail = false;  // what is left fits the window: the walker can take up its next slice
    bool issued = false;
    bool gone = false;
  };
  /// A rank's channel.
  struct Walker {
    std::size_t step = 0;
    sim::Bytes begin;
    sim::Time free;
    bool busy = false;          // its last slice is not issued
    bool sends = false;         // and is so when most of it, the last of `queue`, has gone
    sim::Time issues_at;        // not before
    std::deque<Sending> queue;  // the first one's flows are under way
    sim::Time done;
    std::vector<std::size_t> pipes;  // of its steps in turn: from, then to
    std::vector<std::size_t> first;
  };
  struct Poke {
    sim::Time at;
    std::uint64_t order;
    std::size_t walker;
    bool operator>(const Poke& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  static Costs costs_of(const Program& program, const gpu::MachineSpec& machine);
  double memory_rate() const;
  double through_switches(const net::Blueprint& fabric) const;
  double rate_of(const net::Blueprint& fabric, std::span<const net::LinkId> links) const;
  void plan_flows(std::size_t walker, const Step& s, Sending& sending) const;
  Way way(const net::Blueprint& fabric, const net::Routes& routes, int from, int to);
  void connect(const net::Blueprint& fabric, const net::Routes& routes, std::span<const int> gpus);
  void count_rivals();
  void poke(std::size_t walker, sim::Time at) { pokes_.push({at, order_++, walker}); }
  void look(std::size_t walker, sim::Time now);
  bool take(std::size_t walker, sim::Time now);
  bool issue(std::size_t walker, sim::Time now);
  bool begin_sending(std::size_t walker, sim::Time now);
  void end_flow(net::Fluid::FlowId flow, sim::Time now);
  bool end_sending(std::size_t walker, sim::Time now);
  void begin_flows(std::size_t walker, Sending& sending, double share, sim::Time now);
  void pass_flags(std::size_t walker, const Step& s, sim::Time now);
  void give_back(std::size_t walker, const Step& s, sim::Time now);
  sim::Time inputs_there(const Walker& w, const Step& s) const;
  double unevenness(const Pipe& out, double wire, double together) const;
  double sent_together(std::size_t walker, std::size_t step, double wire) const;
  sim::Time first_piece(double wire, double rate) const;
  sim::Time adding_time(sim::Bytes slice, int loads) const;
  bool polls(const Step& s) const { return encoding_.flags_inside && !s.only_flags(); }
  /// From data's or a flag's being there to a warp's having them.
  sim::Time poll() const { return costs_.poll * encoding_.reads; }
  Pipe& pipe(const Walker& w, std::size_t step, int i) {
    return pipes_[w.pipes[w.first[step] + static_cast<std::size_t>(i)]];
  }
  const Pipe& pipe(const Walker& w, std::size_t step, int i) const {
    return pipes_[w.pipes[w.first[step] + static_cast<std::size_t>(i)]];
  }

  const gpu::MachineSpec& machine_;
  const Program& program_;
  gpu::Encoding encoding_;
  Costs costs_;
  double window_;
  std::size_t slots_;
  std::vector<double> link_rates_;  // data a picosecond, by type of link
  net::Fluid fluid_;
  std::vector<std::uint32_t> memories_;  // resources, by rank
  std::map<std::vector<net::LinkId>, std::uint32_t> resources_;
  std::vector<Way> ways_;
  std::vector<Pipe> pipes_;
  std::vector<Walker> walkers_;
  std::vector<std::size_t> flow_walker_;  // whose flow it is
  std::priority_queue<Poke, std::vector<Poke>, std::greater<>> pokes_;
  std::uint64_t order_ = 0;
};

}  // namespace infold::coll
