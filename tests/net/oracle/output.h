// An output of a chip of the reference network: queues by virtual channel and input, served in turn.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "buffer.h"
#include "net/packet/packet.h"
#include "plan.h"
#include "wire.h"

namespace infold::net::oracle {

class Output {
 public:
  /// A packet whose head is here, and where it is kept: in the buffer of that link and channel, or (null) in
  /// the GPU or the unit that sends it.
  struct Waiting {
    Packet packet;
    Output* in = nullptr;
    int in_channel = 0;
    sim::Time tail = {};  ///< when its last byte is here
  };

  Output(Clock& clock, const Plan& machine, const LinkPlan& link, const std::function<void()>& on_credit)
      : plan(link),
        wire(link),
        feed(link.speedup),
        layers_(machine.layers),
        channels_(static_cast<std::size_t>(machine.channels)) {
    for (int c = 0; c < machine.channels; ++c) {
      buffers.push_back(std::make_unique<Buffer>(clock, link, on_credit));
    }
  }

  void queue(const Waiting& waiting, int channel, int input) {
    channels_[static_cast<std::size_t>(channel)].queues[input].push_back(waiting);
  }

  struct Choice {
    Waiting waiting;
    int channel = 0;
  };
  /// Takes the packet whose turn it is. Channels take turns, and within a channel those inputs do that can be
  /// fed from. A channel whose packet must wait for room lets the others go first.
  std::optional<Choice> choose(sim::Time now) {
    const auto count = static_cast<int>(channels_.size());
    for (int step = 1; step <= count; ++step) {
      const int c = (last_channel_ + step) % count;
      Channel& channel = channels_[static_cast<std::size_t>(c)];
      if (!wire.free(now) && !(slips(c) && wire.may_slip(now))) continue;
      const auto input = next_input(channel, now);
      if (!input) continue;
      auto& queue = channel.queues[*input];
      const sim::Bytes bytes = plan.bytes_of(queue.front().packet);
      Buffer& room = *buffers[static_cast<std::size_t>(c)];
      if (!room.has_room_for(bytes)) continue;
      room.take(bytes);
      const Choice choice{queue.front(), c};
      queue.pop_front();
      channel.turn = *input + 1;
      last_channel_ = c;
      return choice;
    }
    return std::nullopt;
  }

  /// Control packets and requests slip into bursts of others.
  bool slips(int channel) const {
    const auto c = static_cast<PacketClass>(channel / layers_);
    return c == PacketClass::kControl || c == PacketClass::kRequest;
  }
  bool empty() const {
    for (const Channel& c : channels_) {
      for (const auto& [input, queue] : c.queues) {
        if (!queue.empty()) return false;
      }
    }
    return true;
  }

  const LinkPlan plan;
  Wire wire;
  Feed feed;              ///< of the buffers at the far end, all channels together
  sim::Time last_sent;    ///< when it sent something the last time
  sim::Time last_handed;  ///< when the last packet that it handed over at its far end was there
  std::vector<std::unique_ptr<Buffer>> buffers;  ///< at the far end, by channel

 private:
  struct Channel {
    std::map<int, std::deque<Waiting>> queues;  // by input
    int turn = 0;
  };
  static std::optional<int> next_input(Channel& channel, sim::Time now) {
    std::optional<int> first;
    for (auto& [input, queue] : channel.queues) {
      if (queue.empty()) continue;
      Output* in = queue.front().in;
      if (in != nullptr && !in->feed.free(now)) continue;
      if (input >= channel.turn) return input;
      if (!first) first = input;
    }
    return first;
  }

  int layers_;
  std::vector<Channel> channels_;
  int last_channel_ = 0;
};

}  // namespace infold::net::oracle
