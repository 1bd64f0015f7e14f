// One direction of a cable, with what stands before it: the output queues of the sending chip, one for
// each input and virtual channel, the round-robin arbiter over them, and the credits of the far buffer.
//
// A hop costs at most one event. A packet's way is fixed when it is sent, so sending it puts it straight into
// the queue of its next link, marked with the time from which it is there; no event is spent on the arrival
// at a switch. A GPU is told of a packet, and of its time, when it is sent on its last link. Control packets
// are only counted there, and most data goes to memory unobserved (net/packet/packet_port.h). Only data that
// something waits for has an event; they are in order, and only that of the first on the wire is pending. So
// the event queue holds about as many events as there are links, however many packets are in flight.
//
// A link out of a switch knows what can reach its queues for as long as a packet takes over a link and
// through the chip. So it decides for all of that time at once, which gives the same decisions in fewer
// events. Only where credits are short must it look again sooner, because they come back over one link. A
// link of a GPU decides, packet by packet, for a control packet and the one behind it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/packet/credits.h"
#include "net/packet/drain.h"
#include "net/packet/packet.h"
#include "net/packet/round_robin.h"
#include "sim/event_queue.h"
#include "sim/random.h"
#include "sim/ring_buffer.h"

namespace infold::net {

class Link;
class Network;
class PacketPort;

/// By which link a packet leaves a node, and on which of its virtual channels.
struct Way {
  Link* link = nullptr;
  std::uint8_t channel = 0;
};

class alignas(64) Link final : public sim::Handler {
 public:
  struct Setup {
    LinkId id = 0;
    NodeId from = 0;
    NodeId to = 0;
    LinkTypeId type = 0;  ///< whose cost its packets have (Network::wire)
    sim::Bandwidth rate;
    sim::Time latency;
    sim::Time far_latency;  ///< of the chip at the far end: a switch's pipeline, 0 for a GPU
    int speedup = 0;        ///< outputs of the far chip that this link's buffer can feed at once; 0: all
    sim::Time lookahead;    ///< how far ahead it decides at once (Network's constructor says why it may)
    sim::Bytes buffer;      ///< of each virtual channel at the far end
    int classes = 0;        ///< message classes
    int channels = 0;       ///< virtual channels: classes x layers
    int inputs = 0;         ///< inputs that can queue for this link at its near end
    std::uint32_t far_input = 0;  ///< the input as which the far chip's outputs see this link
    bool passes_on = true;        ///< packets go on from its far end
    bool competes = false;        ///< with other outputs of its near end, for input buffers
    bool mixed = false;           ///< packets may come in more slowly than this link sends them
    std::uint32_t far_lane = 0;   ///< which of the links into the far chip it is
    sim::Bytes error_distance;    ///< mean bytes between bit errors; 0: none
  };
  Link(Network& network, const Setup& setup);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Queues a packet of the near chip's input `input`, which is there from packet.arrives on.
  [[gnu::always_inline]] void accept(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
    if (Input* in = queue_first(packet, channel, input); in != nullptr) {
      if (packet.packets() > 1 && join_train(in->last(), packet)) return;  // the link will wake for it
      in->rest.push(packet);
    }
    wake_at(sim::max(packet.arrives, slips(channel) ? slip_from_ : busy_until_));
  }

  /// Queues a single packet where there are no bursts.
  [[gnu::always_inline]] void accept_single(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
    if (Input* in = queue_first(packet, channel, input); in != nullptr) in->rest.push(packet);
    wake_at(sim::max(packet.arrives, busy_until_));
  }

  /// Queues a control packet of a GPU that is there now. Where an arbiter would have no choice the packet
  /// goes straight to the wire, which saves an entry of the queue and an event. (Data cannot: its sender is
  /// told when it leaves, and is not ready to be told before it has sent it.)
  void accept_control(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
    if (none_before(channel, packet.arrives) && send_at_once(packet, channel, input)) return;
    accept_ahead(packet, channel, input);
  }

  /// Queues a packet of a unit, or a control packet of a GPU, that may be announced before its time.
  /// Such packets form one queue, in order of arrival, not of announcement.
  void accept_ahead(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
    if (Input* in = queue_first(packet, channel, input); in != nullptr) {
      Packet& last = in->last();
      if (packet.packets() > 1 && join_train(last, packet)) return;
      const bool in_order = last.arrives <= packet.arrives;
      in->rest.push(packet);
      if (!in_order) [[unlikely]]
        in->sort_in_last();
    }
    wake_at(sim::max(packet.arrives, slips(channel) ? slip_from_ : busy_until_));
  }

  /// A packet that ended at the far GPU has left its port's buffer at `at`, now or later, as have those that
  /// came before it; the news needs the link's latency to get back.
  void buffer_freed(std::size_t channel, sim::Bytes wire, sim::Time at) {
    if (passes_on_) [[unlikely]] {
      buffer_left(channel, wire, freed_[channel].in_order(at));
    } else if (freed_[channel].add(wire, at)) {
      return_credits(channel);
    }
  }
  /// A packet goes on from the far chip, whose buffer its tail leaves at `at`, now or later.
  [[gnu::always_inline]] void buffer_left(std::size_t channel, sim::Bytes wire, sim::Time at) {
    ReturningCredits& returning = returning_[channel];
    if (returning.is_full()) [[unlikely]]
      make_room(channel);
    returning.add(wire, at);
    if (returning.waiting && returning.is_sooner()) wake_for_credits(channel);
  }

  /// The tail of the packet that was accepted last on that input and channel is there at `at`, so the packet
  /// leaves no sooner. This is called only where links are mixed; elsewhere a tail never comes too late.
  void note_tail(std::uint8_t channel, std::uint32_t input, sim::Time at) {
    tails_[channel * static_cast<std::size_t>(setup_.inputs) + input].push(at);
  }

  /// Data that arrives is offered to `port` first.
  void set_port(PacketPort& port) { port_ = &port; }
  /// Tells that `from` feeds that input of the near chip.
  void set_input(std::uint32_t input, Link& from);

  // For chips whose outputs compete for their input buffers (Network::decide_in_turn).
  bool may_decide(sim::Time now) const {
    return wake_ == now || (waiting_channels_ != 0 && sim::min(busy_until_, slip_from_) <= now);
  }
  sim::Time last_sent() const { return last_sent_; }
  /// Sends what can be sent now, and what is known of the future.
  void decide();

  /// Makes the link decide for the present only, from now on.
  void look_no_further() { lookahead_ps_ = 0; }

  LinkId id() const { return setup_.id; }
  std::uint32_t far_lane() const { return setup_.far_lane; }
  NodeId from() const { return setup_.from; }
  NodeId to() const { return setup_.to; }
  LinkTypeId type() const { return type_; }
  sim::Bandwidth rate() const { return setup_.rate; }
  sim::Time latency() const { return setup_.latency; }
  int channels() const { return setup_.channels; }
  /// Whether no packet is queued for it or under way on it.
  bool idle() const { return waiting_channels_ == 0 && arrivals_.packets.empty(); }
  /// See Fabric::start_anew. Requires: idle() and all_credits_home().
  void start_anew();
  bool all_credits_home() const;
  /// On the wire, or in the buffer at its end.
  sim::Bytes in_flight() const;
  /// "link gpu0->switch2: 5 packets wait for credits on virtual channel 1" or empty.
  std::string why_waiting() const;

  /// What has crossed the link on one virtual channel.
  struct Traffic {
    std::uint64_t wire_bytes = 0;
    std::uint64_t packets = 0;
  };
  const Traffic& traffic(int channel) const { return channels_[static_cast<std::size_t>(channel)].traffic; }
  Traffic traffic() const;
  /// Packets that were sent again because of a bit error.
  std::uint64_t replays() const { return replays_; }
  /// Packets and bursts, each counted once.
  std::uint64_t units() const { return packet_by_packet_ ? traffic().packets : bursts_; }

 private:
  /// One input of the near chip on one virtual channel: its queue, and the link whose buffer holds what
  /// is queued (null for the chip's own senders and for a switch's unit). The first in the queue stands in
  /// the input's own cache line, which is all that an arbiter looks at.
  struct alignas(64) Input {
    Packet first;  // it stands for no packet when the queue is empty
    sim::RingBuffer<Packet> rest;
    Link* from = nullptr;

    Input() { first.set_packets(0); }
    bool empty() const { return first.packets() == 0; }
    Packet& last() { return rest.empty() ? first : rest.back(); }
    /// Takes the first away. Returns whether there is another.
    bool pop() {
      if (rest.empty()) {
        first.set_packets(0);
        return false;
      }
      first = rest.front();
      rest.pop();
      return true;
    }
    /// Moves the last packet before those that arrive later than it.
    void sort_in_last() {
      for (std::uint32_t i = rest.size(); i-- > 0;) {
        Packet& before = i == 0 ? first : rest[i - 1];
        if (before.arrives <= rest[i].arrives) return;
        std::swap(before, rest[i]);
      }
    }
    std::size_t size() const { return empty() ? 0 : rest.size() + std::size_t{1}; }
  };
  static_assert(sizeof(Input) == 64, "an input is one cache line");
  struct alignas(64) Channel {
    Channel() : credits({}), waiting(1) {}
    Channel(sim::Bytes buffer, int count)
        : credits(buffer), waiting(count), inputs(new Input[static_cast<std::size_t>(count)]) {}
    Credits credits;
    RoundRobin waiting;  // inputs with a packet queued
    std::unique_ptr<Input[]> inputs;
    Traffic traffic;
  };
  static_assert(sizeof(Channel) == 64, "a channel is one cache line");
  static constexpr int kMostChannels = kPacketClasses * kMostLayers;
  /// The event of data that reaches the far end. It has a handler of its own, because telling kinds of events
  /// apart costs as much as the call.
  struct Arrivals final : public sim::Handler {
    explicit Arrivals(Link& of) : link(of), network(of.network_) {}
    void handle(std::uint32_t event) override;
    Link& link;
    sim::RingBuffer<Packet> packets;  // on the wire to their destination, first to arrive first
    Network& network;
  };
  enum class Sent { kYes, kNo, kUnknown };
  /// The result of looking for credits: whether they suffice, and if not, when there may be more and until
  /// when that is certain.
  struct Look {
    Sent found = Sent::kNo;
    sim::Time next = sim::Time::never();
    sim::Time unknown = sim::Time::never();
  };
  /// Whether several packets of a flow are cut apart on their first link, or travel as a burst.
  enum class Mode { kPackets, kBursts };
  /// What stands at the near end. Each kind has code of its own, because the host predicts a branch by its
  /// address, and what is the rule for one kind is the exception for the other.
  enum class Near { kGpu, kSwitch };
  /// What an event of the link calls: one of the functions for packets, that for bursts, or where outputs
  /// compete for input buffers the network.
  enum class Deciding : std::uint8_t { kPacketsOfGpu, kPacketsOfSwitch, kBursts, kInTurn };
  static std::uint8_t slipping_of(const Setup& setup);

  void handle(std::uint32_t event) override;
  template <Mode mode, Near near>
  void send_all_known();
  template <Mode mode, Near near>
  [[gnu::always_inline]] Sent send_one(sim::Time now, sim::Time& next, sim::Time start, sim::Time& unknown);
  template <Mode mode, Near near>
  [[gnu::always_inline]] void transmit(Packet& packet, Channel& channel, std::size_t index, sim::Bytes wire,
                                       Link* in, const Way& onward, sim::Time start);
  /// Whether the wire is free for that channel and no packet waits that an arbiter could prefer.
  bool none_before(std::uint8_t channel, sim::Time now) const {
    if (busy_until_ <= now) return waiting_channels_ == 0;
    return slips(channel) && slip_from_ <= now && (waiting_channels_ & slipping_) == 0;
  }
  bool send_at_once(Packet packet, std::uint8_t channel, std::uint32_t input);
  /// Queues a packet where nothing is queued on its input and channel; returns the input otherwise.
  [[gnu::always_inline]] Input* queue_first(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
    Channel& c = channels_[channel];
    Input& in = c.inputs[input];
    // The channel knows whether anything is queued; asking the input would wait for its cache line.
    if (c.waiting.has(input)) return &in;
    in.first = packet;
    c.waiting.add(input);
    waiting_channels_ = static_cast<std::uint8_t>(waiting_channels_ | 1U << channel);
    return nullptr;
  }
  [[gnu::noinline]] void make_room(std::size_t channel);
  [[gnu::noinline]] Look look_for_credits(std::size_t index, sim::Bytes wire, sim::Time now, sim::Time start);
  [[gnu::noinline]] void return_credits(std::size_t channel);
  void wake_for_credits(std::size_t channel);
  sim::Bytes credits_home(std::size_t channel) const;
  sim::Time replay(sim::Bytes wire, sim::Time start);
  std::int64_t draw_distance();
  sim::Time take_tail(std::size_t channel, std::uint32_t input);
  void wake_at(sim::Time at) {
    if (wake_ > at) schedule_wake(at);  // otherwise it will look again sooner, and later if it must
  }
  void schedule_wake(sim::Time at);
  bool slips(std::size_t channel) const { return (slipping_ >> channel & 1U) != 0; }
  bool join_train(Packet& last, const Packet& more) const;

  // What a hop touches stands in few cache lines: this one, and one for the channel.
  Network& network_;
  sim::Pace pace_;
  sim::Time busy_until_;
  sim::Time wake_ = sim::Time::never();  // an event for another time is stale
  sim::Time delay_;                      // from leaving the near chip to entering the far one's outputs
  std::uint32_t lookahead_ps_;           // no packet that it does not know of can come up for this long
  NodeId to_;
  std::uint16_t far_input_;
  std::uint8_t waiting_channels_ = 0;  // one bit per channel: it has a packet queued
  std::uint8_t last_channel_ = 0;
  std::uint8_t slipping_;  // one bit per channel: it may slip into a burst; none where there are no bursts
  bool packet_by_packet_ : 1;
  bool ordinary_ : 1;  // no input is slower than this link or shares its way out with other outputs
  bool from_gpu_ : 1;
  bool errs_ : 1;       // there are bit errors
  bool competes_ : 1;   // it competes with other outputs for input buffers
  bool plain_ : 1;      // it neither has bit errors nor competes
  bool passes_on_ : 1;  // packets go on from its far end
  bool mixed_ : 1;      // links of the fabric differ in rate or in what packets take
  LinkTypeId type_;
  Deciding deciding_;
  std::array<Channel, kMostChannels> channels_;

  // What an arrival touches stands together.
  alignas(64) Arrivals arrivals_;
  PacketPort* port_ = nullptr;                   // of the GPU at the far end, if it lets data wait
  std::array<FreedSpace, kMostChannels> freed_;  // by channel: of the buffer at the far end
  Drain drain_;
  std::array<ReturningCredits, kMostChannels> returning_;

  // Where packets travel one by one, a flag or an acknowledgement waits for one packet of data at most. So
  // that it does not wait for a whole burst, channels of control and requests may slip into a burst from
  // slip_from_ on.
  sim::Time slip_from_;
  sim::Time one_packet_;
  sim::Time last_sent_ = sim::Time::ps(-1);  // kept where it competes; -1 ps while it has sent nothing
  std::uint64_t bursts_ = 0;
  std::int64_t to_error_ = 0;  // bytes until the next bit error, where there are any
  std::uint64_t replays_ = 0;
  sim::Random chance_;
  std::unique_ptr<sim::RingBuffer<sim::Time>[]>
      tails_;  // by channel and input, beside its queue; only if mixed
  Setup setup_;
};

}  // namespace infold::net
