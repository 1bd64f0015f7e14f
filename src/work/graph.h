// The workload graph: what ranks do, as a plain value. Operations stand in streams of ranks and wait for each
// other. It says nothing about machines; strategies write it, Runtime runs it.
//
// - A stream runs its operations in the order of its list (but see kBeside). `after` names what an operation
//   waits for besides.
// - Ranks that do the same share a script, and so every operation of it.
// - The list of operations is also the order in which memory is given to them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "coll/program/collective.h"
#include "gpu/kernel/precision.h"
#include "sim/units.h"
#include "work/kernel.h"

namespace infold::work {

using OpId = int;
using BufferId = int;
using CommunicatorId = int;

/// A kernel of compute.
struct Kernel {
  Computation what;
  gpu::Precision precision = gpu::Precision::kFp16;
  std::int64_t batch = 1;  ///< samples; convolutions and attention depend on it
};

/// A tensor is copied into a buffer, or back, by a kernel within the GPU.
struct Copy {
  TensorId tensor = 0;
  BufferId buffer = 0;
  sim::Bytes offset = {};  ///< in the buffer
  bool back = false;
  double ops_per_element = 0;
  bool for_communication = false;  ///< it is done for communication, not for compute
  int element_bytes = 0;           ///< in the buffer; 0: those of the tensor
  bool adds = false;               ///< it adds to what is there already
};

/// A collective of all members of the rank's group. The first collective of each member on a communicator
/// belongs together with that of the others, then the second, and so on.
struct Collective {
  CommunicatorId communicator = 0;
  coll::Collective what = coll::Collective::kAllReduce;
  BufferId buffer = 0;
  int root = 0;  ///< a member of the group, counted from 0
  /// The buffers that its gradients and weights are taken from and put into. -1: they are where kernels use
  /// them.
  BufferId source = -1;
  BufferId target = -1;
  /// Of dispatch and combine: the bytes of a token, and how many ranks it goes to.
  struct Tokens {
    std::int64_t bytes = 0;
    int fan_out = 0;
    auto operator<=>(const Tokens&) const = default;
  };
  Tokens tokens = {};
};

/// One member of a group of two sends a buffer to the other. Both have the operation.
struct Transfer {
  CommunicatorId communicator = 0;
  BufferId buffer = 0;
  int from = 0;  ///< the member that sends
};

/// The host is busy for this long before it issues what comes next in the stream.
struct Delay {
  sim::Time time;
};

/// A moment in a stream that operations of other streams can wait for.
struct Marker {};

/// A kernel of which only the duration alone is known. With SMs and bytes it still competes for both.
struct Timed {
  sim::Time time;
  int sms = 0;  ///< SMs that it holds; 0: all
  /// Each fills an SM. More than SMs run in waves, so that a kernel with fewer SMs takes longer. 0: one for
  /// each SM.
  int workgroups = 0;
  sim::Bytes bytes;  ///< bytes that it reads, evenly over its duration
  double flops = 0;  ///< for reports
};

/// What can only be decided while the step runs: hosts look every `cycle` which parts are there on all ranks,
/// and reduce them together, up to a limit of bytes at once. Operations for that (a collective, and copies
/// where it has several parts) are added to the graph as it runs. It ends when all parts have been reduced.
struct Gather {
  struct Part {
    OpId when = 0;  ///< a marker
    sim::Bytes bytes;
    int gradient = 0;
  };
  CommunicatorId communicator = 0;
  int copies = 0;  ///< the stream of the copies, by its number in the script
  std::vector<Part> parts = {};
  sim::Time cycle = {};
  sim::Bytes most = {};
  bool after_all = false;  ///< nothing is reduced before all parts are there
};

struct Operation {
  std::variant<Kernel, Copy, Collective, Transfer, Delay, Marker, Timed, Gather> what;
  std::string name = {};         ///< may be empty where `what` says enough
  std::vector<OpId> after = {};  ///< operations of the same rank that must have ended
  /// The parameters whose gradients this operation is about: a kernel or a marker completes them, they are
  /// copied or reduced, or with `updates` they are used up. The checker and reports read it.
  std::vector<int> gradients = {};
  bool updates = false;
  /// The parameters whose weights this operation reads, copies or brings together. The checker reads it.
  std::vector<int> weights = {};
  std::vector<int> frees = {};  ///< parameters whose gathered weights are gone when this has ended
  int pass = 0;                 ///< the micro-batch
};

/// Memory that communication reads and writes: its own, or that of tensors.
struct Buffer {
  sim::Bytes bytes;
  TensorId input = -1;    ///< what is read lies here; -1: in memory of its own
  TensorId output = -1;   ///< what is written lies here; -1: in memory of its own
  int element_bytes = 0;  ///< 0: not known
};

/// Groups of ranks that communicate among themselves: all tensor-parallel groups of a job are one
/// communicator. Its operations run one after the other, beside those of others.
struct Communicator {
  std::string name;
  std::vector<std::vector<int>> groups;  ///< each rank at most once
  int priority = 0;                      ///< above that of the machine's collectives
  int channels = 0;                      ///< 0: what the library takes
};

struct Stream {
  enum class Kind : std::uint8_t {
    kCompute,        ///< kernels, copies, markers
    kBeside,         ///< copies for communication, with its priority, in the order in which they become ready
    kCommunication,  ///< collectives and transfers of one communicator
    kHost,           ///< delays and gathers
  };
  std::string name;
  Kind kind = Kind::kCompute;
  CommunicatorId communicator = -1;  ///< with kCommunication
  std::vector<OpId> ops = {};
};

/// What a rank does.
struct Script {
  std::vector<Stream> streams;
  std::vector<OpId> idle = {};  ///< operations that have memory, and do not run
};

struct Graph {
  std::vector<TensorSpec> tensors;  ///< each rank has its own of each
  std::vector<Buffer> buffers;      ///< each rank has its own of each
  std::vector<Communicator> communicators;
  std::vector<Operation> operations;
  std::vector<Script> scripts;
  std::vector<int> script_of;  ///< by rank

  int ranks() const { return static_cast<int>(script_of.size()); }
  const Operation& operator[](OpId op) const { return operations[static_cast<std::size_t>(op)]; }
  Operation& operator[](OpId op) { return operations[static_cast<std::size_t>(op)]; }
  const Script& script(int rank) const {
    return scripts[static_cast<std::size_t>(script_of[static_cast<std::size_t>(rank)])];
  }

  OpId add(Operation op) {
    operations.push_back(std::move(op));
    return static_cast<OpId>(operations.size()) - 1;
  }
  /// Adds an operation at the end of a stream.
  OpId add(Stream& stream, Operation op) {
    stream.ops.push_back(static_cast<OpId>(operations.size()));
    return add(std::move(op));
  }
  TensorId add(const TensorSpec& t) {
    tensors.push_back(t);
    return static_cast<TensorId>(tensors.size()) - 1;
  }
  BufferId add(const Buffer& b) {
    buffers.push_back(b);
    return static_cast<BufferId>(buffers.size()) - 1;
  }
};

/// The name of an operation, or its kind and number.
std::string label(const Graph& graph, OpId op);
/// The communicator of a collective, a transfer or a gather; -1 where the operation does not communicate.
CommunicatorId communicator_of(const Operation& op);
/// The members of the rank's group in a communicator. Requires: it is in one.
const std::vector<int>& group_of(const Graph& graph, CommunicatorId communicator, int rank);
/// The same, or the first group where the rank stands in for one of another group.
const std::vector<int>& some_group_of(const Graph& graph, CommunicatorId communicator, int rank);
bool is_marker(const Operation& op);

/// The copy of all gradients of a bucket into its buffer by one kernel, for communication. Where they lie is
/// not followed: it reads memory of their size, a tensor that is added.
Copy whole_bucket(Graph& graph, BufferId buffer);

/// The same graph without communication: collectives, transfers and gathers do not run, nor do copies for
/// them or of what they bring, and nothing waits for them. Markers that nothing waits for any more go, too,
/// unless they have a name. Memory is laid out as before.
Graph without_communication(Graph graph);

}  // namespace infold::work
