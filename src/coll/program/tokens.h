// Tokens of dispatch and combine. Every rank has a share of tokens; each goes to the ranks of its experts and
// comes back summed. Those are `fan_out` ranks in a row, which begin with another rank for each token, so all
// ranks get equally many. Memory has a place for every token of every rank, as libraries reserve it who do
// not know beforehand where tokens go; only the tokens of a rank's experts are written or read there.
#pragma once

#include <algorithm>

#include "coll/program/tuning.h"

namespace infold::coll {

class Tokens {
 public:
  /// `bytes` is the size of the collective: the shares of all ranks.
  Tokens(const ExpertTuning& tuning, sim::Bytes bytes, int ranks)
      : ranks_(ranks),
        fan_out_(std::min(tuning.fan_out, ranks)),
        share_(bytes / ranks),
        token_(sim::max(sim::Bytes{16}, tuning.token / 16 * 16)) {}

  int ranks() const { return ranks_; }
  int fan_out() const { return fan_out_; }
  sim::Bytes share() const { return share_; }
  /// The place of a token in its rank's share; the last may be shorter.
  int count() const { return static_cast<int>((share_ + token_ - sim::Bytes{1}).count() / token_.count()); }
  sim::Bytes begin(int token) const { return token_ * token; }
  sim::Bytes size(int token) const { return sim::min(token_, share_ - begin(token)); }
  /// Which token lies at a byte of a share.
  int at(std::int64_t byte) const { return static_cast<int>(byte / token_.count()); }
  /// Whether a rank has experts of a token of rank `whose`.
  bool goes_to(int whose, int token, int rank) const {
    return (rank + 2 * ranks_ - whose - token % ranks_) % ranks_ < fan_out_;
  }

 private:
  int ranks_;
  int fan_out_;
  sim::Bytes share_;
  sim::Bytes token_;
};

}  // namespace infold::coll
