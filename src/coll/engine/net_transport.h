// How the slices of connections between nodes get there, as NCCL's network transport has it. The sender's
// workgroup stores a slice into a slot of its own memory and tells its proxy. The proxy gives the NIC a
// request once the receiver's proxy has cleared a slot, and gives the slot back to the workgroup when the
// message was acknowledged. The receiver's proxy sees the message, flushes it where that is needed, and sets
// the flag that the receiver polls for; the slot that the receiver frees it clears again. With LL and LL128
// the receiver polls for the data themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "coll/engine/packet_connection.h"
#include "gpu/machine.h"
#include "gpu/nic/nic.h"
#include "sim/event_queue.h"

namespace infold::coll {

class NetTransport final : public gpu::MessageClient, public sim::Handler {
 public:
  /// A part of a slice that is in the receiver's memory now.
  struct Landing {
    std::uint32_t connection = 0;
    std::uint64_t number = 0;
    std::uint32_t offset = 0;  ///< encoded, in the slice
    std::uint32_t bytes = 0;
    bool speaks = false;  ///< the receiver polls for it
    bool in_output = false;
    std::uint64_t place = 0;                         ///< of the slice, in the output
    const std::vector<std::byte>* values = nullptr;  ///< functional mode: of the slice
  };
  /// What it tells the ends of a connection.
  struct Client {
    std::function<void(const Landing&)> landed;
    std::function<void()> control_seen;  ///< something that was under way is through
  };
  /// Everything passed must outlive it. `slots`: of the buffer of a connection, at both ends.
  NetTransport(gpu::Machine& machine, std::vector<PacketConnection>& connections, std::uint64_t slots,
               bool values, Client client);
  ~NetTransport();

  /// Makes it the way of a connection, whose flags and buffers are known when the first slice comes.
  /// Connections keep the number.
  std::uint32_t add(std::uint32_t connection, int from_gpu, int to_gpu);
  /// The receiver's proxy clears all slots of the connection. Each is under way until it is seen.
  void open(std::uint32_t way);
  /// A slice has been begun: where it will lie at the sender and go to at the receiver, in a slot or in the
  /// output.
  void expect(std::uint32_t way, std::uint64_t number, const gpu::Place& here, const gpu::Place& there,
              sim::Bytes wire, bool in_output);
  /// Slice `number` is visible at the sender; one that is only a flag was not expected. `speaks`: its data
  /// carry the flags that the receiver polls for, otherwise the receiver's tail flag follows it. Two things
  /// are under way from then on: the sender's head flag, and the tail flag or what is told in its place.
  void announce(std::uint32_t way, std::uint64_t number, bool speaks);
  /// The receiver has freed a slot. That is under way until it is told of.
  void give_back(std::uint32_t way);
  /// The values of a slice at the sender.
  std::vector<std::byte>& values(std::uint32_t way, std::uint64_t number) {
    return ways_[way].values[number % records_];
  }
  /// Nothing of it is under way: signals are not used any more.
  void release();

 private:
  struct Slot {
    gpu::Place here;
    gpu::Place there;
    sim::Bytes wire;
    bool in_output = false;
    bool speaks = false;
    bool landed = false;
  };
  struct Way {
    std::uint32_t connection = 0;
    int from = 0;  // GPUs
    int to = 0;
    gpu::Nic::QueueId queue = 0;
    std::uint16_t flow = 0;
    gpu::SignalId clear = 0;  // to the sender's proxy: a slot is clear, or all if none was
    gpu::SignalId empty = 0;  // to the receiver's proxy: a slice without data
    bool opened = false;
    std::uint64_t ready = 0;                     // slices that the sender's proxy knows of
    std::uint64_t cleared = 0;                   // slices for which there is a slot
    std::uint64_t posting = 0;                   // slices that its proxy has taken up
    std::uint64_t posted = 0;                    // slices that the NIC was asked to send
    std::uint64_t sent = 0;                      // slices that were acknowledged
    std::uint64_t landed = 0;                    // slices that are at the receiver, with all before them
    std::uint64_t seen = 0;                      // slices that its proxy has taken up
    std::deque<std::uint64_t> empties;           // slices without data that are under way
    std::vector<Slot> slots;                     // by number of the slice modulo records_
    std::vector<std::vector<std::byte>> values;  // functional mode: likewise
  };
  /// Events and signals carry the number of a way, and in the lowest bits what has happened.
  enum What : std::uint32_t { kReady, kPost, kSent, kClear, kEmpty, kSeen, kFreed, kGrant };
  static constexpr std::uint32_t kWhats = 8;

  void handle(std::uint32_t arg) override;
  void message_sent(std::uint32_t cookie) override;
  void message_landed(std::uint32_t cookie) override;
  void piece_landed(std::uint32_t cookie, std::uint32_t offset, std::uint32_t bytes) override;

  void post(std::uint32_t way);
  void send(std::uint32_t way);
  void slice_landed(std::uint32_t way, std::uint64_t number);
  void schedule(sim::Time at, std::uint32_t way, What what);
  void flag(gpu::SignalId signal, int gpu, sim::Time at);
  Slot& slot(Way& way, std::uint64_t number) const { return way.slots[number % records_]; }
  /// Messages name a record.
  std::uint32_t cookie_of(std::uint32_t way, std::uint64_t number) const {
    return way * static_cast<std::uint32_t>(records_) + static_cast<std::uint32_t>(number % records_);
  }
  std::uint64_t number_of(const Way& way, std::uint32_t cookie) const;

  gpu::Machine& machine_;
  std::vector<PacketConnection>& connections_;
  std::uint64_t slots_;
  /// A sender may be ahead by as many slices as both ends have slots for.
  std::uint64_t records_;
  bool has_values_;
  Client client_;
  bool has_signals_ = true;
  std::vector<Way> ways_;
};

}  // namespace infold::coll
