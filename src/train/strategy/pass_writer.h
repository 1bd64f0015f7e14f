// Writes the ops of a plan into a workload graph: kernels into a stream of compute, communication into a
// stream per axis. What waits for what follows from the tensors that ops read and write.
//
// Every strategy uses it, whatever it adds: one that runs a plan once adds its ops in order; one that has
// several micro-batches under way adds the ops of each with another number, and in the order of its schedule.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "train/layout.h"
#include "train/plan.h"
#include "work/graph.h"

namespace infold::train {

/// The communicators of a job, one per axis, and the stream of each in each script. Each is added to the
/// graph when it is first asked for.
class AxisStreams {
 public:
  /// The graph must outlive this object.
  AxisStreams(work::Graph& graph, const Layout& layout) : graph_(graph), layout_(layout) {}

  work::CommunicatorId communicator(Axis axis);
  /// The stream of a script that runs this axis' communication, counted in the script.
  std::size_t stream(std::size_t script, Axis axis);

 private:
  work::Graph& graph_;
  Layout layout_;
  std::map<Axis, work::CommunicatorId> communicators_;
  std::map<std::pair<std::size_t, Axis>, std::size_t> streams_;
};

class PassWriter {
 public:
  /// Adds the plan's tensors to the graph. `compute` is a stream of script `script`. All must outlive it.
  PassWriter(work::Graph& graph, const Plan& plan, AxisStreams& axes, std::size_t script = 0,
             std::size_t compute = 0);

  /// Adds the operation of an op of the plan, in no stream yet. Operations run in the order in which they are
  /// added: what each waits for beyond its stream is worked out here.
  work::OpId add(int op, int micro_batch = 0);
  /// Appends an operation that `add` gave to the stream that it belongs to. Requires: the order of `add`.
  void put(work::OpId op);
  /// Adds and appends the ops of one phase. Returns the operations in the order of the plan.
  std::vector<work::OpId> run(Phase phase, int micro_batch = 0);

  /// The graph's tensor for one of the plan: each micro-batch has activations of its own, and all share the
  /// parameters, gradients and the state of the optimizer.
  TensorId tensor(TensorId t, int micro_batch = 0);

 private:
  static constexpr std::size_t kStreams = 1 + kAxisNames.size();  // compute, then one per axis
  /// Which operations use a tensor of the graph.
  struct Use {
    work::OpId written = -1;
    std::size_t writer = 0;                  // the stream of what wrote it
    std::array<work::OpId, kStreams> reads;  // the last of each stream; -1: none
    Use() { reads.fill(-1); }
  };
  /// For each stream, its last operation that an operation has to wait for.
  using Waits = std::array<work::OpId, kStreams>;

  Computation rename(const Computation& what, int micro_batch);
  void read(TensorId t, std::size_t stream, work::OpId op, Waits& waits);
  void write(TensorId t, std::size_t stream, work::OpId op, Waits& waits);
  std::vector<work::OpId> after(std::size_t stream, const Waits& waits);

  work::Graph& graph_;
  const Plan& plan_;
  AxisStreams& axes_;
  std::size_t script_;
  std::size_t compute_;
  TensorId first_tensor_;
  std::vector<std::map<TensorId, TensorId>> own_;  // by micro-batch: its activations
  std::map<TensorId, Use> uses_;                   // by tensor of the graph
  std::array<Waits, kStreams> known_;              // by stream: what it has waited for, of each other stream
  work::OpId last_kernel_ = -1;
};

}  // namespace infold::train
