// The interpreter's back end for the estimate: it goes through the steps of a program in order of time, with
// links as a fluid that all slices under way share. The time at which a flag will be seen is known as soon as
// it is sent, so connections keep times and count what has come by now. Internal to the estimate.
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
  /// Everything that is passed must outlive it.
  FluidSimulation(const gpu::MachineSpec& machine, const net::Blueprint& fabric, const net::Routes& routes,
                  const Program& program, std::span<const int> gpus);

  /// The time from the moment the stream reaches the collective to the end of the last rank; never, if the
  /// program cannot end before `limit` or `keep_going` says no.
  sim::Time run(sim::Time limit, const std::function<bool()>& keep_going);

 private:
  /// The costs that differ from engine to engine.
  struct Costs {
    sim::Time start;    // from the moment the stream reaches the collective to the first step
    sim::Time command;  // before a slice's first load
    sim::Time fence;    // from the moment a slice is visible to the flag that says so
    sim::Time poll;     // from the moment data or a flag is there to the moment it is seen
    sim::Bytes window;
    sim::Bytes payload;  // the payload of a packet
  };
  struct Way {
    std::vector<net::Fluid::Share> shares;
    sim::Time latency;
    double lanes = 1;                                          // links that it spreads over as it leaves
    double slowest = std::numeric_limits<double>::infinity();  // data per picosecond of one of its links
    bool between_nodes = false;  // `latency` is that of a slice from the sender's slot to the receiver's flag
    sim::Time back;              // until a slot that is freed is known there
  };
  /// A slice in a receive buffer.
  struct Slot {
    sim::Time visible;  // when the receiver could see all data, if told; for data without flags inside
    sim::Time first;    // when the receiver sees the first data, or the flag behind them
    sim::Time last;     // when the receiver sees all of them
    sim::Time freed;    // when the sender sees that the slot is free again
  };
  /// A connection from one walker to another.
  struct Pipe : Connection {
    std::vector<Slot> slots;
    std::size_t way = 0;
    std::size_t sender = 0;
    std::size_t receiver = 0;
    double rivals = 1;  // stores that spread over the same links if all send at once

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
    sim::Time ready;                                   // when its first data can leave
    sim::Time loaded;                                  // when all of it is loaded
    double most = 0;                                   // bytes per picosecond that its walker loads
    std::vector<std::uint64_t> numbers;                // of the slice on each receiver's pipe
    std::vector<std::vector<net::Fluid::Share>> ways;  // per flow: its links, and the memory at both ends
    int flows = 0;                                     // how many are under way
    bool begun = false;
    bool tail = false;  // what is left fits the window, so the walker can take up its next slice
    bool gone = false;
  };
  /// One channel of one rank.
  struct Walker {
    explicit Walker(const StepInterpreter<Pipe>::Setup& setup) : steps(setup) {}
    StepInterpreter<Pipe> steps;
    bool busy = false;          // its last slice is not issued yet
    bool sends = false;         // the slice counts as issued when most of it, the last of `queue`, has left
    sim::Time issues_at;        // the earliest time at which it counts as issued
    std::deque<Sending> queue;  // the flows of the first one are under way
    sim::Time done;
  };
  /// A walker at one moment, as the interpreter sees it.
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
  Way way_between_nodes(int from, int to);
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
  /// The time from the moment data or a flag is there to the moment a warp has it.
  sim::Time poll() const { return costs_.poll * encoding_.reads; }

  const gpu::MachineSpec& machine_;
  const Program& program_;
  gpu::Encoding encoding_;
  Costs costs_;
  double window_;
  std::vector<double> link_rates_;  // data per picosecond, by type of link
  net::Fluid fluid_;
  std::vector<std::uint32_t> memories_;  // resources, indexed by rank
  std::map<std::vector<net::LinkId>, std::uint32_t> resources_;
  std::vector<Way> ways_;
  Wiring wiring_;
  std::vector<Pipe> pipes_;  // indexed by connection
  std::vector<Walker> walkers_;
  std::vector<std::size_t> flow_walker_;  // the walker of each flow
  std::priority_queue<Poke, std::vector<Poke>, std::greater<>> pokes_;
  std::uint64_t order_ = 0;
};

}  // namespace infold::coll
