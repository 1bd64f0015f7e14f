// By how many ranks the work inside a layer is divided, beyond data and pipeline parallelism.
#pragma once

#include "train/layout.h"
#include "train/names.h"

namespace infold::train {

struct Split {
  int tp = 1;  ///< ranks that share every layer
  /// Ranks that share a layer also divide the tokens of what lies between its products: norms, dropout,
  /// residual additions. Without it they all do the same there.
  bool sp = false;
  int cp = 1;       ///< ranks that share every sequence
  int ep = 1;       ///< ranks that share the experts
  double skew = 1;  ///< tokens of the expert that gets most, against the mean; all are padded to as many
  KeyExchange keys = KeyExchange::kAllGather;          ///< with cp > 1
  ExpertExchange experts = ExpertExchange::kAllToAll;  ///< with ep > 1

  bool operator==(const Split&) const = default;
  bool rows() const { return sp && tp > 1; }
  bool ring() const { return cp > 1 && keys == KeyExchange::kRing; }
  bool multicast() const { return ep > 1 && experts == ExpertExchange::kMulticast; }
};

inline Split split_of(const Layout& layout, bool sp, double skew = 1,
                      KeyExchange keys = KeyExchange::kAllGather,
                      ExpertExchange experts = ExpertExchange::kAllToAll) {
  return {.tp = layout.tp,
          .sp = sp,
          .cp = layout.cp,
          .ep = layout.ep,
          .skew = skew,
          .keys = keys,
          .experts = experts};
}

}  // namespace infold::train
