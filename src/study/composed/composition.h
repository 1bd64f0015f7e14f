// Puts a step together from profiles: kernels and communication take what they take alone, and slow each
// other down, while both are under way, as their pair showed. Streams, waits, gaps of launches and the queues
// of communicators are followed event by event, with the rules of work::Runtime.
//
// GPUs that do the same at the same time are one actor. So time grows with the number of different actors and
// their operations.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/result.h"
#include "work/timeline.h"

namespace infold::study::composed {

/// What a partner of kernels is: a kind of communication, or a copy beside compute.
using PartnerId = int;

/// What one does to the other while both are under way: how many times as long each takes.
struct Pair {
  double kernel = 1;   ///< or the first of two partners
  double partner = 1;  ///< or the second
};

/// What is known of a graph's operations. Times in picoseconds.
struct Profiles {
  std::vector<int> kind = {};           ///< by operation with kernels: its kind; else -1
  std::vector<double> kernels = {};     ///< by kind: alone, without the gap of a launch
  std::vector<PartnerId> partner = {};  ///< by operation: as a partner of kernels; else -1
  struct Communication {
    double first = 0;  ///< on its own
    double next = 0;   ///< behind another at once
  };
  std::vector<Communication> communications = {};                 ///< by operation
  std::map<std::pair<int, PartnerId>, Pair> beside = {};          ///< by kind of kernel and partner
  std::map<std::pair<PartnerId, PartnerId>, Pair> together = {};  ///< by partners, the smaller first
};

/// Pairs that met, for how long, whether they are known or not.
struct Meetings {
  std::map<std::pair<int, PartnerId>, double> beside = {};
  std::map<std::pair<PartnerId, PartnerId>, double> together = {};
};

/// What machine and job say.
struct Circumstances {
  sim::Time launch_gap;
  std::vector<sim::Time> delays = {};  ///< by rank; empty: no rank is late
};

/// The program of a communication of a rank.
using ProgramOf = std::function<const coll::Program&(int rank, work::OpId op)>;

class Composition final : public work::Timeline {
 public:
  /// Graph, profiles and what `programs` gives must outlive it. Requires: work::check(graph), no Gather.
  Composition(const work::Graph& graph, const Profiles& profiles, Circumstances circumstances,
              ProgramOf programs);

  sim::Status run();
  const Meetings& meetings() const { return meetings_; }
  /// When everything had ended, in picoseconds.
  double end() const { return static_cast<double>(now_.count_ps()); }

  const work::Graph& graph() const override { return graph_; }
  Times times(int rank, work::OpId op) const override { return at(rank).times[index(op)]; }
  sim::Time all_there(int rank, work::OpId op) const override;
  bool ran(int rank, work::OpId op) const override;
  const coll::Program& program(int rank, work::OpId op) const override { return programs_(rank, op); }

 private:
  static constexpr std::size_t index(work::OpId op) { return static_cast<std::size_t>(op); }

  /// An operation of a GPU's stream that was issued.
  struct Queued {
    work::OpId op = 0;
    sim::Time issued;
  };
  /// A stream of an actor.
  struct Line {
    std::size_t next = 0;  // operations that were issued
    bool busy = false;     // one that holds its stream has not ended
    // Of kernels:
    std::vector<Queued> queue = {};
    std::size_t done = 0;                     // of the queue
    sim::Time launched = sim::Time::never();  // the kernel at the head begins
    double left = 0;                          // of that kernel, in picoseconds alone
    double rate = 1;
    bool pumping = false;
    bool present() const { return launched != sim::Time::never(); }
  };
  struct Meeting {
    work::OpId op = 0;
    std::vector<std::pair<int, work::OpId>> there = {};  // actors that have come, with their operations
    std::size_t actors = 0;                              // that will come
    sim::Time all_there = sim::Time::never();
    double left = 0;
    double rate = 1;
    bool runs() const { return all_there != sim::Time::never(); }
  };
  /// GPUs that do the same at the same time.
  struct Actor {
    int rank = 0;  // the first of them
    sim::Time late;
    std::vector<Line> lines;
    std::vector<int> pending;              // by operation: how many others must end first
    std::vector<Times> times;              // by operation
    std::vector<std::size_t> meeting_of;   // by operation
    std::vector<int> joined;               // by communicator: meetings so far
    std::vector<sim::Time> last;           // by communicator: when the last one ended
    std::vector<std::vector<int>> others;  // by communicator: the actors of its group
    std::vector<std::size_t> active;       // meetings that it has come to
  };

  const Actor& at(int rank) const {
    return actors_[static_cast<std::size_t>(actor_of_[static_cast<std::size_t>(rank)])];
  }
  Actor& actor(int a) { return actors_[static_cast<std::size_t>(a)]; }
  const work::Stream& stream(const Actor& a, int line) const {
    return graph_.script(a.rank).streams[static_cast<std::size_t>(line)];
  }
  int line_of(const Actor& a, work::OpId op) const {
    return line_of_[index(graph_.script_of[static_cast<std::size_t>(a.rank)])][index(op)];
  }

  void make_actors();
  void advance(int a, int line);
  void issue(int a, int line, work::OpId op);
  void ready(int a, work::OpId op);
  void ended(int a, work::OpId op);
  void pump(int a, int line);
  void join(int a, work::OpId op);
  void set_rates();
  void set_rates(Actor& a);
  std::optional<sim::Time> next_time() const;
  void move_to(sim::Time then);
  void note_meetings(double passes);
  bool done() const;

  const work::Graph& graph_;
  const Profiles& profiles_;
  Circumstances circumstances_;
  ProgramOf programs_;
  sim::Time now_;
  std::vector<Actor> actors_;
  std::vector<int> actor_of_;                        // by rank
  std::vector<std::vector<int>> line_of_;            // by script and operation; -1: none
  std::vector<std::vector<work::OpId>> dependents_;  // by operation
  std::map<std::tuple<work::CommunicatorId, std::vector<int>, int>, std::size_t> known_;  // meetings
  std::vector<Meeting> all_;
  std::vector<std::size_t> running_;                             // meetings
  std::multimap<sim::Time, std::pair<int, work::OpId>> timers_;  // delays of hosts
  Meetings meetings_;
};

}  // namespace infold::study::composed
