// The communicators between neighbouring stages of a pipeline. Each direction of each link has a communicator
// and a stream of its own, so that neither waits for the other, as NCCL's grouped sends and receives do not.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "train/layout.h"
#include "train/plan.h"
#include "work/graph.h"

namespace infold::train {

class StageLinks {
 public:
  /// There are `parts` of the model; part g is on stage g % layout.pp. The graph must outlive it.
  StageLinks(work::Graph& graph, const Layout& layout) : graph_(graph), layout_(layout) {}

  enum class Way : std::uint8_t { kForward, kBackward };
  struct Message {
    Way way = Way::kForward;
    int part = 0;  ///< the part that sends it
    int micro_batch = 0;
    sim::Bytes bytes;
    TensorId tensor = 0;  ///< the tensor that is sent, or received into
  };
  /// Appends a send, or a receive, to its stream of the stage's script. Both ends of a message share a
  /// buffer.
  work::OpId send(int stage, const Message& message, std::vector<work::OpId> after);
  work::OpId receive(int stage, const Message& message, std::vector<work::OpId> after);

 private:
  work::OpId add(int stage, const Message& message, work::BufferId buffer, std::vector<work::OpId> after);
  work::BufferId buffer(const Message& message);
  /// The communicator from the stage `link` to the next, or back.
  work::CommunicatorId communicator(Way way, int link);
  work::Stream& stream(int stage, work::CommunicatorId communicator);

  work::Graph& graph_;
  Layout layout_;
  std::map<std::pair<Way, int>, work::CommunicatorId> communicators_;
  std::map<std::tuple<Way, int, int>, work::BufferId> buffers_;  // way, part that sends, micro-batch
};

}  // namespace infold::train
