// Runs a graph on a machine: every rank's host issues operations when what they wait for has ended, in the
// order of their streams. It knows when each operation was ready, began and ended.
//
// Kernels are enqueued ahead of time, as frameworks do it; GPU streams keep their order. Communication is
// started by the host, when the operation before it on its communicator has ended on this rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/machine.h"
#include "gpu/sm/core.h"
#include "sim/event_queue.h"
#include "work/communications.h"
#include "work/gatherer.h"
#include "work/graph.h"
#include "work/rank_kernels.h"
#include "work/timeline.h"

namespace infold::work {

struct RuntimeOptions {
  Programs programs = {};
  std::vector<sim::Time> delays = {};  ///< by rank: how late it begins; empty: no rank is late
  /// Ranks of one script that begin together do the same until communication tells them apart. Up to there
  /// only the first is simulated, and stands for all. The result is the same with and without this option.
  bool together = false;
  /// Compute never learns of communication, by what is shared or by what comes when. With `together` ranks
  /// stay in step until compute waits for communication.
  bool undisturbed = false;
};

class Runtime final : public Timeline, public sim::Handler {
 public:
  /// Rank r is GPU r of the machine, which must outlive it. Requires: check(graph).
  Runtime(Graph graph, gpu::Machine& machine, RuntimeOptions options);
  /// Runs the first rank on a GPU without a machine. Requires: check(graph), and no communication that runs.
  Runtime(Graph graph, gpu::Core& core, RuntimeOptions options);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() override = default;

  /// Sets where the steps of collectives are recorded. Requires: start() has not been called.
  void record(sim::TraceRecorder* trace);
  void start();
  bool done() const;
  /// The share of the bytes of communication on all ranks that has been communicated.
  double share() const;
  /// What every unfinished stream waits for, and what the machine waits for.
  std::vector<std::string> who_waits() const;

  const Graph& graph() const override { return graph_; }
  Times times(int rank, OpId op) const override;
  sim::Time all_there(int rank, OpId op) const override;
  bool ran(int rank, OpId op) const override { return kernels_for(rank, op).ran(op); }
  const coll::Program& program(int rank, OpId op) const override {
    return communications_->program(rank, op);
  }
  const RankKernels& kernels(int rank) const { return at(rank).kernels; }
  /// The core that has done a rank's compute so far: its own, or that of one in step with it.
  const gpu::Core& computes_for(int rank) const { return at(in_step_ ? 0 : rank).kernels.core(); }

 private:
  struct Cursor {
    std::size_t next = 0;
    bool busy = false;  // the operation at the cursor has not ended, and nothing behind it may be issued
  };
  struct Rank {
    Rank(gpu::Core& core, const Graph& graph) : kernels(core, graph) {}
    RankKernels kernels;
    std::vector<gpu::StreamId> streams;  // by stream of the script; those of kernels
    std::vector<Cursor> cursors;         // by stream of the script
    std::vector<int> pending;            // by operation: how many others must end first
    std::vector<Times> times;            // by operation, where its kernels do not know
    std::size_t own_from = 0;  // the compute stream's operations before this one ran on the first rank alone
  };
  /// What an event of the queue is about.
  struct Note {
    enum class What : std::uint8_t { kEnded, kWake, kLaunch };
    What what = What::kEnded;
    int rank = 0;
    OpId op = 0;
  };
  /// A Gather under way.
  struct Gathering {
    Gathering(OpId o, const Gather& gather, int ranks)
        : op(o),
          what(gather),
          gatherer(what),
          there_on(gather.parts.size()),
          left(static_cast<std::size_t>(ranks), gather.parts.size()) {}
    OpId op;
    Gather what;
    Gatherer gatherer;
    std::vector<int> there_on;   // by part: on how many ranks it is there
    std::size_t everywhere = 0;  // parts that are there on all ranks
    std::vector<Gathered> formed;
    std::optional<sim::Time> wakes_at;
    std::vector<std::size_t> left;  // by rank: parts that are not reduced
  };

  Runtime(Graph graph, gpu::Machine* machine, gpu::Core& first, RuntimeOptions options);
  Rank& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }
  const RankKernels& kernels_for(int rank, OpId op) const;
  int script_of(int rank) const { return graph_.script_of[static_cast<std::size_t>(rank)]; }
  int stream_of(int rank, OpId op) const;
  std::size_t position(OpId op) const { return position_[static_cast<std::size_t>(op)]; }
  const Stream& stream(int rank, int s) const {
    return graph_.script(rank).streams[static_cast<std::size_t>(s)];
  }

  // runtime_setup.cpp
  void index_operation(OpId op);
  std::int64_t bytes_of(int rank) const;
  void place(int script, int s, OpId op, std::size_t position);
  void make(OpId op);
  void count_pending(int rank, OpId op);
  void add_streams(int rank);
  bool may_be_together() const;

  void handle(std::uint32_t arg) override;
  void note(sim::Time at, Note n);
  void mark(int rank, int s, OpId op);
  void ready(int rank, OpId op);
  void advance(int rank, int s);
  void issue(int rank, int s, OpId op);
  void ended(int rank, OpId op);
  void ended_in_step(OpId op);
  bool splits_behind(OpId op) const;
  void split_behind(OpId op);

  // runtime_gather.cpp
  void arrived(int rank, std::size_t gathering, int part);
  void form(std::size_t gathering);
  void launch(std::size_t gathering);
  void add_bucket(Gathering& g, const Gathered& bucket);
  void settle(int rank, OpId op);
  std::size_t gathering_of(OpId op) const;

  struct Waiting {
    std::size_t gathering;
    int part;
  };
  struct Settles {
    int gathering = -1;
    std::size_t parts = 0;
  };

  Graph graph_;
  gpu::Machine* machine_;
  sim::EventQueue& events_;
  RuntimeOptions options_;
  std::unique_ptr<Communications> communications_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::vector<int>> stream_of_;        // by script and operation; -1: none
  std::vector<std::size_t> position_;              // by operation: in its stream
  std::vector<std::vector<OpId>> dependents_;      // by operation
  std::vector<std::vector<Waiting>> gathered_by_;  // by operation: the parts that it says are there
  std::vector<Settles> settles_;                   // by operation
  std::vector<std::unique_ptr<Gathering>> gatherings_;
  std::vector<Note> notes_;
  bool in_step_ =
      false;  // so far all ranks have done the same, and only the first one's compute is simulated
  std::int64_t bytes_done_ = 0;
  std::int64_t bytes_all_ = 0;
};

}  // namespace infold::work
