// The connections of a program and the runners at their ends, one a channel of a rank. Who drives the
// runners, and what with, is up to the executor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coll/engine/connection.h"
#include "coll/engine/executor.h"
#include "coll/engine/runner.h"

namespace infold::coll {

class ConnectionSet {
 public:
  /// `context` and `owner` must outlive it.
  ConnectionSet(const ExecutorContext& context, RunnerOwner& owner);
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  Runner& runner(int rank, int channel) { return *runners_[index_of(rank, channel)]; }
  Runner& runner(std::size_t index) { return *runners_[index]; }
  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
           static_cast<std::size_t>(channel);
  }
  std::size_t runners() const { return runners_.size(); }
  std::vector<std::string> who_waits() const;

 private:
  std::uint32_t connect(const ExecutorContext& context, int from, int to, int channel);

  const Program& program_;
  RunnerContext context_;
  std::vector<Connection> connections_;
  std::vector<std::unique_ptr<Runner>> runners_;  // rank · channels + channel
};

}  // namespace infold::coll
