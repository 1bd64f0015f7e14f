// The NIC of a GPU: it writes messages from its GPU's memory into that of a GPU of another node (RDMA
// writes). A message waits in the queue of its connection, is read over PCIe as far ahead as the window
// allows, travels in packets, and is written over PCIe at the other end, whose NIC acknowledges it as a
// whole. The queues take turns at the link.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/copy/copy_pipeline.h"
#include "gpu/copy/move.h"
#include "gpu/memory/memory_system.h"
#include "gpu/nic/nic_spec.h"
#include "gpu/signals.h"
#include "net/fabric.h"
#include "sim/event_queue.h"
#include "sim/pool.h"
#include "sim/ring_buffer.h"

namespace infold::gpu {

/// The one who has a message sent is told how it goes, at both ends.
class MessageClient {
 public:
  /// At the sender's NIC: the message was acknowledged, and its memory may be used again.
  virtual void message_sent(std::uint32_t cookie) = 0;
  /// At the receiver: these bytes of it are in memory. Told only if Message::pieces says so.
  virtual void piece_landed(std::uint32_t cookie, std::uint32_t offset, std::uint32_t bytes) = 0;
  /// At the receiver: all of it is in memory.
  virtual void message_landed(std::uint32_t cookie) = 0;

 protected:
  ~MessageClient() = default;
};

struct Message {
  int to = 0;  ///< the GPU whose memory it is written to
  Place here;
  Place there;
  sim::Bytes bytes;        ///< at least one
  std::uint16_t flow = 0;  ///< picks one of several ways; messages of a queue must have the same
  bool pieces = false;     ///< something waits for parts of it
  MessageClient* client = nullptr;
  std::uint32_t cookie = 0;
};

class Nic final : public net::Endpoint, public MoveClient, public sim::Handler {
 public:
  using QueueId = std::uint32_t;
  /// Messages under way on a machine, by the id that their moves carry as cookies.
  struct UnderWay {
    Message message;
    QueueId queue = 0;
    sim::Bytes to_come;  ///< bytes that have not reached the receiver
    sim::Time visible;   ///< when what has reached it is in memory
    int open = 2;        ///< its ends that still need the entry
  };
  using Table = sim::Pool<UnderWay>;
  struct Setup {
    net::NodeId gpu = 0;
    const NicSpec* spec = nullptr;
    sim::Bytes burst;  ///< 0 means packet by packet
  };
  /// `memory` is that of its GPU. Everything passed must outlive it.
  Nic(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, net::Fabric& fabric,
      MoveTable& moves, Table& table, SignalTable& signals);
  ~Nic();

  QueueId take_queue();
  /// Requires: nothing is in it or under way from it.
  void release_queue(QueueId queue);
  /// Requires: message.bytes > 0, and another GPU.
  void write(QueueId queue, const Message& message);
  /// Writes a few bytes into the memory of another host, whose proxy polls for the signal.
  void notify(SignalId signal, int to, std::uint16_t flow);

  /// Data that have crossed the PCIe between GPU and NIC.
  std::uint64_t read_bytes() const { return read_; }
  std::uint64_t written_bytes() const { return written_; }

 private:
  struct Queue {
    std::unique_ptr<CopyPipeline> pipeline;
    sim::RingBuffer<std::uint32_t> waiting;  // messages
  };
  /// A part of a message that something waits for, on its way into memory.
  struct Piece {
    std::uint32_t message = 0;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  /// Events carry a number, and what has happened to it in the lowest bits: the request reached the NIC, a
  /// piece or a whole message is in memory.
  enum Event : std::uint32_t { kRequested = 0, kPiece = 1, kLanded = 2 };
  static constexpr std::uint32_t kEvents = 4;

  void handle(std::uint32_t event) override;
  sim::Time receive(const net::Packet& packet) override;
  void expect(const net::Packet& packet) override;
  void departed(const net::Packet& packet) override;
  void move_issued(std::uint32_t message) override;
  void move_complete(std::uint32_t message) override;
  void produce(std::uint32_t, std::uint32_t, std::span<std::byte>) override {}
  void consume(std::uint32_t, std::uint32_t, std::span<const std::byte>) override {}
  void begin_next(Queue& queue);
  void close(std::uint32_t message);
  void schedule(sim::Time at, Event what, std::uint32_t number) {
    events_.schedule(at, sim::Priority::kWork, *this, number * kEvents + what);
  }

  Setup setup_;
  sim::EventQueue& events_;
  MemorySystem& memory_;
  net::Fabric& fabric_;
  MoveTable& moves_;
  Table& table_;
  SignalTable& signals_;
  sim::Pace pcie_;
  CopyPipeline::Port reading_;  // what all queues read passes the same PCIe
  sim::Time writing_;           // from when data can be written over PCIe
  std::vector<Queue> queues_;
  std::vector<QueueId> free_;
  sim::Pool<Piece> pieces_;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace infold::gpu
