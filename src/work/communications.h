// The communication of a running graph: which ranks meet in which collective, in which memory, and the
// executions that carry it out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/engine/execution.h"
#include "gpu/machine.h"
#include "work/graph.h"

namespace infold::work {

/// The program of a collective or a transfer of a number of bytes among the members of a group. It knows the
/// machine; the graph does not.
using Programs = std::function<const coll::Program&(const Operation& op, sim::Bytes bytes,
                                                    const std::vector<int>& members)>;

class Communications {
 public:
  using Ended = std::function<void(int rank, OpId op)>;

  /// Where a tensor lies on a rank: the key of its first block.
  using Places = std::function<std::uint64_t(int rank, TensorId tensor)>;

  /// Rank r is GPU r. All arguments must outlive this object; the graph may grow.
  Communications(const Graph& graph, gpu::Machine& machine, Programs programs, Places places, Ended ended);

  void record(sim::TraceRecorder* trace) { trace_ = trace; }

  struct Memory {
    std::uint64_t input = 0;
    std::uint64_t output = 0;
  };
  /// Gives memory to a rank's next operation on its communicator; which ranks meet it there is known from now
  /// on. Returns the keys of the first blocks that the operation reads and writes.
  Memory join(int rank, OpId op);
  /// Requires: joined.
  void start(int rank, OpId op);
  const coll::Program& program(int rank, OpId op) const { return *meeting(rank, op).program; }
  /// The ranks that meet in it, and each one's operation. Requires: joined.
  struct Member {
    int rank = 0;
    OpId op = 0;
  };
  std::vector<Member> members(int rank, OpId op) const;
  std::vector<std::string> who_waits() const;

 private:
  struct Meeting {
    const coll::Program* program = nullptr;
    coll::Buffers* buffers = nullptr;
    const std::vector<int>* members = nullptr;   // ranks
    std::vector<OpId> ops;                       // by member
    std::size_t stream = 0;                      // which of the GPUs' communication streams
    std::unique_ptr<coll::Execution> execution;  // from the first member's start on
  };
  /// Where a rank stands in a communicator.
  struct Seat {
    int group = -1;
    int member = 0;
    std::size_t joined = 0;  // meetings so far
  };
  struct Group {
    std::vector<std::unique_ptr<Meeting>> meetings;
    coll::Buffers* first = nullptr;  // all share the receive buffers of these
  };
  /// Communicator, group, buffer and kind of operation.
  using Key = std::tuple<CommunicatorId, int, BufferId, int>;

  coll::Buffers& buffers_for(const Key& key, Group& group, const std::vector<int>& members,
                             const coll::Program& program);
  std::unique_ptr<coll::Buffers> in_tensors_of(const Buffer& buffer, const Group& group,
                                               const std::vector<int>& members) const;
  Seat& seat(CommunicatorId c, int rank) {
    return seats_[static_cast<std::size_t>(c)][static_cast<std::size_t>(rank)];
  }
  const Meeting& meeting(int rank, OpId op) const;

  const Graph& graph_;
  gpu::Machine& machine_;
  Programs programs_;
  Places places_;
  Ended ended_;
  sim::TraceRecorder* trace_ = nullptr;
  std::vector<std::vector<Seat>> seats_;    // by communicator and rank
  std::vector<std::vector<Group>> groups_;  // by communicator
  std::map<Key, std::unique_ptr<coll::Buffers>> buffers_;
  std::vector<std::vector<Meeting*>> meeting_of_;  // by rank and operation
};

/// Whether a program works in the memory of a buffer's tensors: where it has any, the program needs no
/// memory behind its output, and blocks of tensors are as large as those of buffers, as 16-bit ones are.
bool works_in_tensors(const Graph& graph, const Buffer& buffer, const coll::Program& program);

/// The buffer of a collective or a transfer.
BufferId buffer_of(const Operation& op);

}  // namespace infold::work
