// Computes for each kind of pass how much memory it leaves or frees and the most that it needs on the way,
// and adds that up along the schedule.
#include "train/stage_memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "train/pass_ops.h"

namespace infold::train {

namespace {

struct Change {
  std::vector<std::int64_t> during = {};  ///< by op of the pass: above what there was before it
  std::int64_t net = 0;
};

/// What the passes of one micro-batch do to memory, if they come in this order.
std::map<PassKind, Change> changes_of(const Plan& plan, const std::vector<PassKind>& order) {
  std::map<TensorId, std::pair<int, int>> used;  // first and last, counted in ops
  std::map<PassKind, std::pair<int, int>> span;
  int at = 0;
  const auto use = [&](TensorId t) {
    if (t < 0 || plan.tensors[static_cast<std::size_t>(t)].role != TensorSpec::Role::kPassing) return;
    used.try_emplace(t, at, at).first->second.second = at;
  };
  for (const PassKind kind : order) {
    span[kind].first = at;
    if (kind == PassKind::kForward) use(plan.ends.received);
    if (kind == PassKind::kBackward || kind == PassKind::kInputGradient) {
      use(plan.ends.received_gradient);
      use(plan.ends.sent);
    }
    for (const int op : pass_ops(plan, kind)) {
      for (const TensorId t : reads_of(plan.ops[static_cast<std::size_t>(op)])) use(t);
      for (const TensorId t : writes_of(plan.ops[static_cast<std::size_t>(op)])) use(t);
      ++at;
    }
    span[kind].second = at;
  }
  // While op i runs, and between op i - 1 and op i.
  std::vector<std::int64_t> during(static_cast<std::size_t>(at));
  std::vector<std::int64_t> before(static_cast<std::size_t>(at) + 1);
  for (const auto& [t, when] : used) {
    const std::int64_t bytes = plan.tensors[static_cast<std::size_t>(t)].bytes();
    for (int i = when.first; i <= std::min(when.second, at - 1); ++i)
      during[static_cast<std::size_t>(i)] += bytes;
    for (int i = when.first + 1; i <= when.second; ++i) before[static_cast<std::size_t>(i)] += bytes;
  }
  std::map<PassKind, Change> changes;
  for (const PassKind kind : order) {
    const std::int64_t held = before[static_cast<std::size_t>(span[kind].first)];
    Change c{.net = before[static_cast<std::size_t>(span[kind].second)] - held};
    for (int i = span[kind].first; i < span[kind].second; ++i)
      c.during.push_back(during[static_cast<std::size_t>(i)] - held);
    changes[kind] = std::move(c);
  }
  return changes;
}

/// Messages that are in memory beside what the passes of their micro-batches use.
std::int64_t messages_under_way(const std::vector<Plan>& chunks, bool ahead) {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (const Plan& plan : chunks) {
    const auto bytes = [&](TensorId t) {
      return t < 0 ? 0 : plan.tensors[static_cast<std::size_t>(t)].bytes();
    };
    sent = std::max(sent, bytes(plan.ends.sent_gradient));
    received = std::max({received, bytes(plan.ends.received), bytes(plan.ends.received_gradient)});
  }
  return sent + (ahead ? received : 0);
}

}  // namespace

std::vector<std::vector<std::int64_t>> stage_bytes(const std::vector<Plan>& chunks,
                                                   const std::vector<Pass>& passes, bool ahead) {
  const auto splits = [](const Pass& p) { return p.kind == PassKind::kWeightGradient; };
  std::vector<PassKind> order = {PassKind::kForward, PassKind::kBackward};
  if (std::ranges::any_of(passes, splits))
    order = {PassKind::kForward, PassKind::kInputGradient, PassKind::kWeightGradient};
  std::vector<std::map<PassKind, Change>> changes;
  changes.reserve(chunks.size());
  for (const Plan& plan : chunks) changes.push_back(changes_of(plan, order));
  std::vector<std::vector<std::int64_t>> all;
  all.reserve(passes.size());
  std::int64_t now = messages_under_way(chunks, ahead);
  for (const Pass& pass : passes) {
    const Change& c = changes[static_cast<std::size_t>(pass.chunk)][pass.kind];
    all.push_back(c.during);
    for (std::int64_t& bytes : all.back()) bytes += now;
    now += c.net;
  }
  return all;
}

MemoryNeed stage_memory(const std::vector<Plan>& chunks, const std::vector<Pass>& passes, bool ahead) {
  MemoryNeed need;
  for (const Plan& plan : chunks) {
    const MemoryNeed alone = memory_need(plan);
    need.weights += alone.weights;
    need.gradients += alone.gradients;
    need.optimizer += alone.optimizer;
  }
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& pass : stage_bytes(chunks, passes, ahead)) {
    for (const std::int64_t bytes : pass) most = std::max(most, bytes);
  }
  need.passing = sim::Bytes{most};
  return need;
}

}  // namespace infold::train
