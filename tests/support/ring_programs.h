// The programs of a graph's communication in tests: small rings, and a broadcast among two for a transfer.
#pragma once

#include <deque>
#include <vector>

#include "coll/algo/algorithms.h"
#include "support/small_program.h"
#include "work/runtime.h"

namespace infold::help {

/// Keeps what it has written. It outlives the runtimes that it gives programs to.
class RingPrograms {
 public:
  work::Programs on(const net::Blueprint& fabric) {
    return [this, &fabric](const work::Operation& op, sim::Bytes bytes,
                           const std::vector<int>& members) -> const coll::Program& {
      const auto* c = std::get_if<work::Collective>(&op.what);
      written_.push_back(
          coll::write_ring({.collective = c == nullptr ? coll::Collective::kBroadcast : c->what,
                            .bytes = bytes,
                            .gpus = members,
                            .fabric = &fabric,
                            .tuning = few_channels(2),
                            .root = c == nullptr ? std::get<work::Transfer>(op.what).from : c->root}));
      return written_.back();
    };
  }

 private:
  std::deque<coll::Program> written_;
};

}  // namespace infold::help
