// The steps of one rank in a ring: chunks are folded on one way round and copied on another. Internal to
// coll/.
#pragma once

#include <vector>

#include "coll/program/writing.h"

namespace infold::coll {

/// Writes the steps of one rank of a circle.
class RingWriter {
 public:
  RingWriter(const std::vector<int>& order, int place, std::vector<Step>& out)
      : order_(order), n_(static_cast<int>(order.size())), place_(place), out_(out) {}

  /// The place in the circle, and the rank, that is a number of places behind.
  int place(int behind) const { return (place_ + n_ - behind) % n_; }
  int rank(int behind) const { return order_[static_cast<std::size_t>(place(behind))]; }
  int self() const { return rank(0); }
  int from() const { return rank(1); }
  int to() const { return rank(n_ - 1); }
  int ranks() const { return n_; }

  void add(const Step& step) { coll::add(out_, step); }

 private:
  const std::vector<int>& order_;
  int n_;
  int place_;
  std::vector<Step>& out_;
};

/// What a folding round does besides folding.
struct FoldRound {
  bool held = false;      ///< own values are those held from before, not the input
  bool finishes = false;  ///< the values are complete when the round ends
  bool pass_on = false;   ///< complete values go round once more at once
};

/// The share of the rank i places behind starts at its successor and ends, folded, at that rank itself.
/// `share(behind)` is the (input offset, output offset, bytes) of the share of the rank that many places
/// behind.
template <class Share>
void fold_round(RingWriter& w, Share share, FoldRound round) {
  for (int behind = 1; behind <= w.ranks(); ++behind) {
    const bool last = behind == w.ranks();
    Step s = share(behind % w.ranks());
    if (behind > 1) s.from = {w.from()};
    if (!last || round.pass_on) s.to = {w.to()};
    (round.held ? s.uses_held : s.uses_input) = true;
    s.writes_output = last;
    s.finishes = last && round.finishes;
    w.add(s);
  }
}

/// Shares that are complete at their ranks and on their way to the successors are copied from neighbour to
/// neighbour.
template <class Share>
void copy_round(RingWriter& w, Share share) {
  for (int behind = 1; behind < w.ranks(); ++behind) {
    Step s = share(behind);
    s.from = {w.from()};
    s.writes_output = true;
    if (behind < w.ranks() - 1) s.to = {w.to()};
    w.add(s);
  }
}

}  // namespace infold::coll
