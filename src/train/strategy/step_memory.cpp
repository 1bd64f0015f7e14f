// Walks along the stream of compute. A buffer is there from when it may be written until compute has waited
// for the operation that reads it last.
#include "train/strategy/step_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "train/strategy/sharding.h"

namespace infold::train {

namespace {

class MemoryWalk {
 public:
  MemoryWalk(const StepRequest& request, const work::Graph& graph)
      : request_(request), plan_(request.plan), graph_(graph), position_(graph.operations.size(), -1) {
    const std::vector<work::OpId>& compute = graph.scripts.front().streams.front().ops;
    for (std::size_t i = 0; i < compute.size(); ++i)
      position_[static_cast<std::size_t>(compute[i])] = static_cast<int>(i);
    end_ = static_cast<int>(compute.size());
    passing_.resize(compute.size() + 2);
    gathered_.resize(compute.size() + 2);
    for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
      for (const work::OpId before : graph[op].after) waiting_[before].push_back(op);
    }
    for (const work::Stream& s : graph.scripts.front().streams) {
      if (s.kind != work::Stream::Kind::kCommunication) continue;
      for (std::size_t i = 1; i < s.ops.size(); ++i) {
        previous_[s.ops[i]] = s.ops[i - 1];
        next_[s.ops[i - 1]] = s.ops[i];
      }
    }
  }

  MemoryNeed run() {
    MemoryNeed need = kept();
    std::int64_t most = -1;
    for (const MemoryMoment& m : curve()) {
      if (m.passing + m.gathered <= most) continue;
      most = m.passing + m.gathered;
      need.passing = sim::Bytes{m.passing};
      need.gathered = sim::Bytes{m.gathered};
    }
    return need;
  }

  /// Requires: called once.
  MemoryCurve curve() {
    add_passing();
    if (request_.plan.recipe.sharding == Sharding::kParameters) add_copies();
    if (request_.plan.recipe.sharding >= Sharding::kGradients) add_gradients();
    const std::vector<work::OpId>& compute = graph_.scripts.front().streams.front().ops;
    MemoryCurve curve;
    std::int64_t passing = 0;
    std::int64_t gathered = 0;
    for (std::size_t i = 0; i < passing_.size(); ++i) {
      passing += passing_[i];
      gathered += gathered_[i];
      const MemoryMoment moment{
          .op = compute[std::min(i, compute.size() - 1)], .passing = passing, .gathered = gathered};
      if (i < compute.size()) {
        curve.push_back(moment);
      } else if (passing + gathered > curve.back().passing + curve.back().gathered) {
        curve.back() = moment;  // what is still there behind the last kernel
      }
    }
    return curve;
  }

 private:
  /// Counts what is there during the whole step.
  MemoryNeed kept() const {
    if (plan_.recipe.sharding == Sharding::kNone) return memory_need(plan_);
    const Recipe& recipe = plan_.recipe;
    MemoryNeed need;
    for (std::size_t p = 0; p < plan_.parameter_elements.size(); ++p) {
      const int shards =
          plan_.axis_of(static_cast<int>(p)) == Axis::kExpertReplica ? recipe.expert_shards : recipe.shards;
      const std::int64_t all = plan_.parameter_elements[p];
      const std::int64_t shard = (all + shards - 1) / shards;
      const bool scattered = recipe.sharding >= Sharding::kGradients;
      // With ZeRO whole weights have the type of products; the shard of the update may have its own.
      const bool whole = recipe.sharding != Sharding::kParameters;
      const bool own = !whole || recipe.read_weight_bytes() != recipe.weight_bytes();
      if (whole) need.weights += sim::Bytes{all * recipe.read_weight_bytes()};
      if (own) need.weights += sim::Bytes{shard * recipe.weight_bytes()};
      need.gradients += sim::Bytes{scattered ? shard * recipe.weight_bytes() : all * recipe.gradient_bytes()};
    }
    for (const TensorSpec& t : plan_.tensors) {
      if (t.role == TensorSpec::Role::kOptimizer) need.optimizer += sim::Bytes{t.bytes()};
    }
    return need;
  }

  int position(work::OpId op) const { return position_[static_cast<std::size_t>(op)]; }
  std::int64_t bytes(TensorId t) const { return graph_.tensors[static_cast<std::size_t>(t)].bytes(); }

  static void add(std::vector<std::int64_t>& changes, int first, int last, std::int64_t bytes) {
    if (last < first) return;
    changes[static_cast<std::size_t>(first)] += bytes;
    changes[static_cast<std::size_t>(last) + 1] -= bytes;
  }

  /// The operation of compute by which an operation has ended for certain.
  int ended_by(work::OpId op) const {
    const auto waiting = waiting_.find(op);
    if (waiting == waiting_.end()) return end_;
    int first = end_;
    for (const work::OpId w : waiting->second)
      first = std::min(first, position(w) >= 0 ? position(w) : ended_by(w));
    return first;
  }
  /// The same of an exchange, which has ended when a later one of its communicator has.
  int exchanged_by(work::OpId op) const {
    int first = ended_by(op);
    for (auto next = next_.find(op); next != next_.end(); next = next_.find(next->second))
      first = std::min(first, ended_by(next->second));
    return first;
  }
  /// The operation of compute beside which an exchange may begin: the first one behind all that it waits for.
  int begins_at(work::OpId op) {
    if (const auto known = begins_.find(op); known != begins_.end()) return known->second;
    int first = 0;
    for (const work::OpId before : graph_[op].after)
      first = std::max(first, position(before) >= 0 ? position(before) + 1 : begins_at(before));
    if (const auto p = previous_.find(op); p != previous_.end())
      first = std::max(first, begins_at(p->second));
    return begins_[op] = first;
  }

  /// Exchanges of the plan run beside compute: what they write is there from when they may begin, and what
  /// they read until they have ended for certain.
  void add_passing() {
    std::vector<int> first(plan_.tensors.size(), -1);
    std::vector<int> last(plan_.tensors.size(), -1);
    int at = 0;
    for (int i = 0; i < static_cast<int>(plan_.ops.size()); ++i) {
      if (position(i) >= 0) at = position(i);
      const Op& op = plan_.ops[static_cast<std::size_t>(i)];
      const bool exchanges = op.communication() != nullptr;
      const int from = exchanges ? begins_at(i) : at;
      const int until = exchanges ? std::max(from, exchanged_by(i) - 1) : at;
      for (const auto& ids : {reads_of(op), writes_of(op)}) {
        for (const TensorId t : ids) {
          const auto n = static_cast<std::size_t>(t);
          first[n] = first[n] < 0 ? from : std::min(first[n], from);
          last[n] = std::max(last[n], until);
        }
      }
    }
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (first[t] >= 0 && plan_.tensors[t].role == TensorSpec::Role::kPassing)
        add(passing_, first[t], last[t], plan_.tensors[t].bytes());
    }
    first_use_ = std::move(first);
  }

  /// Counts what is gathered and scattered through buffers.
  void add_copies() {
    std::map<work::BufferId, std::vector<int>> begun;  // gatherings by buffer: when each may begin
    std::map<work::BufferId, std::size_t> copied_out;
    for (work::OpId op = 0; op < static_cast<work::OpId>(graph_.operations.size()); ++op) {
      const work::Operation& o = graph_[op];
      const auto* copy = std::get_if<work::Copy>(&o.what);
      if (copy == nullptr || o.weights.empty() || copy->back) continue;
      int first = 0;
      for (const work::OpId before : o.after) first = std::max(first, position(before) + 1);
      begun[copy->buffer].push_back(first);
    }
    for (const work::OpId op : graph_.scripts.front().streams.front().ops) {
      const work::Operation& o = graph_[op];
      const auto* copy = std::get_if<work::Copy>(&o.what);
      if (copy == nullptr) continue;
      const auto& buffer = graph_.buffers[static_cast<std::size_t>(copy->buffer)];
      if (!o.weights.empty() && copy->back) {
        add(gathered_, begun[copy->buffer][copied_out[copy->buffer]++], position(op), buffer.bytes.count());
        add(gathered_, position(op), freed(op), bytes(copy->tensor));
      } else if (!o.gradients.empty() && !copy->back) {
        add_reduction(op, *copy);
      }
    }
  }

  /// The operation of compute after which what `op` has copied is freed.
  int freed(work::OpId op) const {
    const std::vector<work::OpId>& compute = graph_.scripts.front().streams.front().ops;
    for (auto i = static_cast<std::size_t>(position(op)); i < compute.size(); ++i) {
      const std::vector<int>& frees = graph_[compute[i]].frees;
      if (std::ranges::find(frees, graph_[op].weights.front()) != frees.end()) return static_cast<int>(i);
    }
    return end_;
  }

  /// Counts the buffer of a reduction from the copy into it on, and its result unless that is kept.
  void add_reduction(work::OpId in, const work::Copy& copy) {
    work::OpId op = waiting_.at(in).front();
    add(gathered_, position(in), ended_by(op) - 1,
        graph_.buffers[static_cast<std::size_t>(copy.buffer)].bytes.count());
    while (true) {
      const auto* c = std::get_if<work::Collective>(&graph_[op].what);
      if (c == nullptr) return;  // it is the copy to what is kept
      const auto next = std::ranges::find_if(waiting_.at(op), [&](work::OpId w) { return position(w) < 0; });
      if (next == waiting_.at(op).end()) return;
      const std::int64_t shards =
          c->what == coll::Collective::kReduceScatter ? members(c->communicator) : std::int64_t{1};
      add(gathered_, position(in), ended_by(*next) - 1,
          graph_.buffers[static_cast<std::size_t>(c->buffer)].bytes.count() / shards);
      op = *next;
    }
  }

  std::int64_t members(work::CommunicatorId c) const {
    return static_cast<std::int64_t>(graph_.communicators[static_cast<std::size_t>(c)].groups.front().size());
  }

  /// Counts whole gradients from the first kernel that writes them until they have been copied or reduced.
  void add_gradients() {
    std::map<int, int> first;  // by parameter: some are written by a kernel that does not name them
    std::map<int, int> last;
    for (const GradientReady& r : plan_.ready) {
      const TensorId t = plan_.gradients[static_cast<std::size_t>(r.parameter)];
      const int named = first_use_[static_cast<std::size_t>(t)];
      first[r.parameter] = named < 0 ? std::max(position(r.op), 0) : named;
    }
    for (work::OpId op = 0; op < static_cast<work::OpId>(graph_.operations.size()); ++op) {
      const work::Operation& o = graph_[op];
      const auto* copy = std::get_if<work::Copy>(&o.what);
      const auto* c = std::get_if<work::Collective>(&o.what);
      for (const int p : o.gradients) {
        if (copy != nullptr && !copy->back) last[p] = position(op);
        if (c != nullptr && c->source < 0) last[p] = ended_by(op) - 1;
      }
    }
    for (const auto& [p, when] : last) {
      add(gathered_, first[p], when, bytes(plan_.gradients[static_cast<std::size_t>(p)]));
    }
  }

  const StepRequest& request_;
  const Plan& plan_;
  const work::Graph& graph_;
  std::vector<int> position_;  // in the stream of compute; -1: elsewhere
  int end_ = 0;
  std::map<work::OpId, std::vector<work::OpId>> waiting_;  // the operations that wait for one
  std::map<work::OpId, work::OpId> previous_;              // of communication: the one before in its stream
  std::map<work::OpId, work::OpId> next_;
  std::map<work::OpId, int> begins_;
  std::vector<int> first_use_;         // by tensor
  std::vector<std::int64_t> passing_;  // changes by position
  std::vector<std::int64_t> gathered_;
};

/// Whether something that is not in the stream of compute takes memory.
bool runs_beside(const Plan& plan) {
  const auto exchanges = [](const Op& op) { return op.communication() != nullptr; };
  return plan.recipe.sharding != Sharding::kNone || std::ranges::any_of(plan.ops, exchanges);
}

}  // namespace

MemoryNeed memory_need(const StepRequest& request, const StepGraph& step) {
  if (!runs_beside(request.plan)) return memory_need(request.plan);
  return MemoryWalk(request, step.graph).run();
}

MemoryCurve memory_curve(const StepRequest& request, const StepGraph& step) {
  if (!runs_beside(request.plan)) return memory_curve(request.plan);
  return MemoryWalk(request, step.graph).curve();
}

}  // namespace infold::train
