// A connection in the simulation of packets: where its buffer lies, which signals are its flags, and what has
// landed in its slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/engine/landed.h"
#include "coll/program/connection.h"
#include "gpu/signals.h"

namespace infold::coll {

class ChannelProtocol;

struct PacketConnection : Connection {
  static constexpr std::uint32_t kInside = 0xffff'ffff;
  /// Between nodes: its number in the network transport (coll/engine/net_transport.h).
  std::uint32_t way = kInside;
  bool opened = false;            ///< likewise: the receiver has cleared its slots
  std::uint64_t send_buffer = 0;  ///< likewise: address of the slots in the sender's memory
  bool between_nodes() const { return way != kInside; }

  std::uint64_t address = 0;  ///< address of the buffer, which selects the links
  std::uint64_t buffer = 0;   ///< address of the buffer in the receiver's memory
  gpu::SignalId tail_flag = 0;
  gpu::SignalId head_flag = 0;
  ChannelProtocol* receiver = nullptr;
  std::vector<Landed> landed;                  ///< per slot, if data carry their flags
  std::vector<std::vector<std::byte>> values;  ///< functional mode: what the slots hold
};

}  // namespace infold::coll
