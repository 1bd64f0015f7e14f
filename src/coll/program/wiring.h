// The connections of a program: every pair of ranks that a step joins has one on that channel, and every step
// knows which of them it receives from and sends to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/program/program.h"

namespace infold::coll {

class Wiring {
 public:
  struct Ends {
    int from = 0;  ///< a rank
    int to = 0;
    int channel = 0;
    auto operator<=>(const Ends&) const = default;
  };
  /// The connections of step i of a rank's channel begin at `connections[first[i]]`: first those it receives
  /// from, then those it sends to, each in the order of the step.
  struct Channel {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> connections;
  };

  explicit Wiring(const Program& program);

  /// Connections are in the order in which the steps name them, rank after rank and channel after channel.
  const std::vector<Ends>& connections() const { return connections_; }
  /// The numbers of the connections, ordered by sender, receiver and channel.
  std::vector<std::uint32_t> by_ends() const;
  /// `list` is rank · channels + channel.
  const Channel& channel(std::size_t list) const { return channels_[list]; }

 private:
  std::vector<Ends> connections_;
  std::vector<Channel> channels_;
};

}  // namespace infold::coll
