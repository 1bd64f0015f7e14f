// The connections of a program and the protocol of each channel of a rank at their ends. The executor starts
// the channels and gives them what moves their data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coll/engine/channel_protocol.h"
#include "coll/engine/executor.h"
#include "coll/engine/net_transport.h"
#include "coll/program/wiring.h"

namespace infold::coll {

class ConnectionSet {
 public:
  /// `context` and `owner` must outlive it.
  ConnectionSet(const ExecutorContext& context, ProtocolOwner& owner);
  ~ConnectionSet();
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  ChannelProtocol& channel(int rank, int channel) { return *channels_[index_of(rank, channel)]; }
  ChannelProtocol& channel(std::size_t index) { return *channels_[index]; }
  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
           static_cast<std::size_t>(channel);
  }
  std::size_t channels() const { return channels_.size(); }
  std::vector<std::string> who_waits() const;

 private:
  void release_flags();
  PacketConnection connect(const ExecutorContext& context, std::uint32_t index);
  void net_landed(const NetTransport::Landing& landing);

  const Program& program_;
  Wiring wiring_;
  gpu::SignalTable& signals_;
  bool has_flags_ = true;
  ProtocolContext context_;
  std::unique_ptr<NetTransport> net_;                       // null in one node
  std::vector<std::unique_ptr<ChannelProtocol>> channels_;  // indexed by rank · channels + channel
};

}  // namespace infold::coll
