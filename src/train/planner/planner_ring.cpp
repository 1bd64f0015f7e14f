// Ring attention: ranks that share a sequence pass keys and values round, and attend to one rank's part at a
// time while the next is under way. In backward the gradients of keys and values go round behind them.
//
// Each rank has a piece from the front of the sequence and one from its back. With a causal mask its own part
// is a triangle; of any other rank's part either half of the keys counts for all of its queries, or all keys
// for half of its queries. Both are the same work, so all ranks do the same, and the plan has the first.
#include "train/planner/planner.h"

namespace infold::train {

TensorId Planner::from_neighbour(TensorId t) {
  const TensorId received = like(t);
  communicate(Axis::kContext, coll::Collective::kSendRecv, t, received);
  return received;
}

Attend Planner::attend_part(Attend whole, int step) const {
  whole.keys = whole.sequence;
  if (step > 0 && whole.causal) {
    whole.causal = false;
    whole.keys /= 2;
  }
  return whole;
}

void Planner::forward_ring(const Operation& op, const Attend& heads, const AttendTensors& t) {
  AttendTensors now = t;
  for (int step = 0; step < division_.split.cp; ++step) {
    AttendTensors next = now;
    if (step + 1 < division_.split.cp) {
      next.key = from_neighbour(now.key);
      next.value = from_neighbour(now.value);
    }
    if (step > 0) now.out = like(t.out);
    emit(attend_part(attend(op, heads, now), step));
    // Both results are scaled by the sums of their weights, and added.
    if (step > 0) stream({now.out, t.out}, {t.out}, 4);
    now = next;
  }
}

Planner::AttendTensors Planner::backward_ring(const Operation& op, const Attend& heads,
                                              const AttendTensors& t, TensorId d_out) {
  AttendTensors now = t;
  AttendTensors sums = {kNone, kNone, kNone, d_out};
  for (int step = 0; step < division_.split.cp; ++step) {
    AttendTensors next = now;
    if (step + 1 < division_.split.cp) {
      next.key = from_neighbour(now.key);
      next.value = from_neighbour(now.value);
    }
    const AttendTensors own = {like(t.out, 4), passing(spec(t.key).rows, spec(t.out).cols),
                               passing(spec(t.value).rows, spec(t.out).cols), d_out};
    emit(attend_part(attend(op, heads, now, own), step));
    const TensorId dk = shared_heads(own.key, t.key);
    const TensorId dv = shared_heads(own.value, t.value);
    if (step == 0) {
      sums = {own.query, dk, dv, d_out};
    } else {
      stream({own.query, sums.query}, {sums.query});
      sums.key = from_neighbour(sums.key);
      sums.value = from_neighbour(sums.value);
      stream({dk, sums.key}, {sums.key});
      stream({dv, sums.value}, {sums.value});
    }
    now = next;
  }
  // The sums have been everywhere but where their keys are at home.
  sums.key = from_neighbour(sums.key);
  sums.value = from_neighbour(sums.value);
  return sums;
}

}  // namespace infold::train
