// The interpreter's back end for the estimate: a walk through a program's steps in order of time, with links
// as a fluid that all slices under way share. When a flag will be seen is known as soon as it is sent, so
// connections keep times and count what has come by now. Internal to the estimate.
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
#include "coll/program/step_interpreter.h"
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
    sim::Time visible;  // where no flags are inside: the receiver could see all data, if told
    sim::Time first;    // the receiver sees the first data, or the flag behind them
    sim::Time last;     // and all of them
    sim::Time freed;    // the sender sees that it is free again
  };
  /// A connection from one walker to another.
  struct Pipe : Connection {
    std::vector<Slot> slots;
    std::size_t way = 0;
    std::size_t sender = 0;
    std::size_t receiver = 0;
    double rivals = 1;  // stores that spread over the same links, if all send at once

    Slot& slot(std::uint64_t number) { return slots[number % slots.size()]; }
    const Slot& slot(std::uint64_t number) const { return slots[number % slots.size()]; }
    /// Counts the flags, or first data, and the slots given back that have been seen by now.
    void catch_up(sim::Time now) {
      while (arrived < sent && slot(arrived).first <= now) ++arrived;
      while (freed < taken && slot(freed).freed <= now) ++freed;
    }
  };
  /// A slice on its way to its receivers.
  struct Sending {
    std::uint32_t step = 0;
    double wire = 0;
    sim::Time ready;                                   // its first data can leave
    sim::Time loaded;                                  // all of it is loaded
    double most = 0;                                   // bytes a picosecond that its walker loads
    std::vector<std::uint64_t> numbers;                // on each receiver's pipe
    std::vector<std::vector<net::Fluid::Share>> ways;  // of each flow: links, and memory at both ends
    int flows = 0;                                     // under way
    bool begun = false;
    bool tail = false;  // what is left fits the window: the walker can take up its next slice
    bool gone = false;
  };
  /// A rank's channel.
  struct Walker {
    explicit Walker(const StepInterpreter<Pipe>::Setup& setup) : steps(setup) {}
    StepInterpreter<Pipe> steps;
    bool busy = false;          // its last slice is not issued
    bool sends = false;         // and is so when most of it, the last of `queue`, has gone
    sim::Time issues_at;        // not before
    std::deque<Sending> queue;  // the first one's flows are under way
    sim::Time done;
  };
  /// A walker at a moment, as the interpreter sees it.
  struct Backend {
    FluidSimulation& simulation;
    std::size_t walker;
    sim::Time now;
    static constexpr bool kMovesPoll = false;  // it waits for the first data, and does not look at the rest
    void begin(const Slice& slice) { simulation.begin_slice(walker, slice, now); }
    void pass(const Slice& slice);
    void announce(Pipe& out, std::uint64_t number);
    void give_back(Pipe& in, std::uint64_t number);
    void step_ended(const Step&) {}
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
  std::vector<Pipe> connect(const net::Blueprint& fabric, const net::Routes& routes,
                            std::span<const int> gpus);
  Way way(const net::Blueprint& fabric, const net::Routes& routes, int from, int to);
  void count_rivals();
  void poke(std::size_t walker, sim::Time at) { pokes_.push({at, order_++, walker}); }
  void look(std::size_t walker, sim::Time now);
  bool take(std::size_t walker, sim::Time now);
  bool issue(std::size_t walker, sim::Time now);
  bool begin_sending(std::size_t walker, sim::Time now);
  void end_flow(net::Fluid::FlowId flow, sim::Time now);
  bool end_sending(std::size_t walker, sim::Time now);
  void begin_flows(std::size_t walker, Sending& sending, double share, sim::Time now);
  void begin_slice(std::size_t walker, const Slice& slice, sim::Time now);
  static sim::Time inputs_there(const Walker& w);
  double unevenness(const Pipe& out, double wire, double together) const;
  double sent_together(std::size_t walker, std::size_t step, double wire) const;
  sim::Time first_piece(double wire, double rate) const;
  sim::Time adding_time(sim::Bytes slice, int loads) const;
  /// From data's or a flag's being there to a warp's having them.
  sim::Time poll() const { return costs_.poll * encoding_.reads; }

  const gpu::MachineSpec& machine_;
  const Program& program_;
  gpu::Encoding encoding_;
  Costs costs_;
  double window_;
  std::vector<double> link_rates_;  // data per picosecond, by type of link
  net::Fluid fluid_;
  std::vector<std::uint32_t> memories_;  // resources, by rank
  std::map<std::vector<net::LinkId>, std::uint32_t> resources_;
  std::vector<Way> ways_;
  Wiring wiring_;
  std::vector<Pipe> pipes_;  // by connection
  std::vector<Walker> walkers_;
  std::vector<std::size_t> flow_walker_;  // whose flow it is
  std::priority_queue<Poke, std::vector<Poke>, std::greater<>> pokes_;
  std::uint64_t order_ = 0;
};

}  // namespace infold::coll
