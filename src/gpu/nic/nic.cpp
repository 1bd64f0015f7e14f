// Messages out, and packets in.
#include "gpu/nic/nic.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
/// Addresses of a flow lie in a block of their own, and blocks pick ways (net/interleaving.h).
constexpr int kFlowShift = 30;
}  // namespace

Nic::Nic(const Setup& setup, sim::EventQueue& events, MemorySystem& memory, net::Fabric& fabric,
         MoveTable& moves, Table& table, SignalTable& signals)
    : setup_(setup),
      events_(events),
      memory_(memory),
      fabric_(fabric),
      moves_(moves),
      table_(table),
      signals_(signals),
      pcie_(setup.spec->pcie_rate) {
  fabric.attach(setup.gpu, *this);
}

Nic::~Nic() = default;

Nic::QueueId Nic::take_queue() {
  if (!free_.empty()) {
    const QueueId queue = free_.back();
    free_.pop_back();
    return queue;
  }
  const auto queue = static_cast<QueueId>(queues_.size());
  queues_.emplace_back().pipeline =
      std::make_unique<CopyPipeline>(CopyPipeline::Setup{.gpu = setup_.gpu,
                                                         .sender = queue,
                                                         .window = setup_.spec->window,
                                                         .burst = setup_.burst,
                                                         .port = setup_.spec->pcie_rate,
                                                         .latency = setup_.spec->pcie_latency * 2,
                                                         .shared_port = &reading_},
                                     events_, memory_, fabric_, moves_, nullptr);
  return queue;
}

void Nic::release_queue(QueueId queue) {
  INFOLD_CHECK(queues_[queue].waiting.empty() && queues_[queue].pipeline->idle(), "a free queue is empty");
  free_.push_back(queue);
}

void Nic::write(QueueId queue, const Message& message) {
  INFOLD_DCHECK(message.bytes > sim::Bytes{} && message.to != setup_.gpu,
                "a message has bytes and goes away");
  const std::uint32_t id =
      table_.take({.message = message, .queue = queue, .to_come = message.bytes, .visible = {}, .open = 2});
  schedule(events_.now() + setup_.spec->latency, kRequested, id);
}

void Nic::notify(SignalId signal, int to, std::uint16_t flow) {
  net::Packet packet(net::PacketKind::kSignal);
  packet.arrives = events_.now();
  packet.set_flow(signal);
  packet.set_payload(net::kFlagBytes);
  packet.set_source(setup_.gpu);
  packet.set_destination(static_cast<net::NodeId>(to));
  packet.set_spread(flow);
  fabric_.send(packet, 0);
}

void Nic::begin_next(Queue& queue) {
  if (queue.waiting.empty() || !queue.pipeline->idle()) return;
  const std::uint32_t id = queue.waiting.front();
  queue.waiting.pop();
  const Message& m = table_[id].message;
  Move move;
  move.bytes = m.bytes;
  move.address = std::uint64_t{m.flow} << kFlowShift;
  move.client = this;
  move.cookie = id;
  move.to = m.to;
  move.there = m.there;
  move.sources[0] = m.here;
  read_ += static_cast<std::uint64_t>(m.bytes.count());
  queue.pipeline->start(move);
}

void Nic::handle(std::uint32_t event) {
  const std::uint32_t number = event / kEvents;
  if (event % kEvents == kRequested) {
    Queue& queue = queues_[table_[number].queue];
    queue.waiting.push(number);
    begin_next(queue);
  } else if (event % kEvents == kPiece) {
    const Piece piece = pieces_[number];
    pieces_.give_back(number);
    const Message& m = table_[piece.message].message;
    m.client->piece_landed(m.cookie, piece.offset, piece.bytes);
  } else {
    const Message m = table_[number].message;
    close(number);
    m.client->message_landed(m.cookie);
  }
}

/// A message is acknowledged before its last bytes are in memory, or later: the end that comes last gives its
/// entry back.
void Nic::close(std::uint32_t message) {
  if (--table_[message].open == 0) table_.give_back(message);
}

/// The pipeline has read and sent all of it.
void Nic::move_issued(std::uint32_t message) {
  begin_next(queues_[table_[message].queue]);
}

void Nic::move_complete(std::uint32_t message) {
  const Message m = table_[message].message;
  close(message);
  m.client->message_sent(m.cookie);
}

sim::Time Nic::receive(const net::Packet& packet) {
  const sim::Time now = events_.now();
  MoveTable::Entry& entry = moves_[packet.flow()];
  const std::uint32_t id = entry.move.cookie;
  UnderWay& message = table_[id];
  const sim::Bytes bytes{packet.payload()};
  written_ += packet.payload();
  writing_ = sim::max(writing_, now) + pcie_.time(bytes);
  const sim::Time taken = memory_.write(entry.arriving, packet.payload(), now);
  const sim::Time visible = sim::max(writing_, taken) + setup_.spec->pcie_latency;
  message.visible = sim::max(message.visible, visible);
  if (message.message.pieces)
    schedule(visible, kPiece, pieces_.take({id, packet.offset(), packet.payload()}));
  message.to_come -= bytes;
  if (message.to_come == sim::Bytes{}) {
    schedule(message.visible, kLanded, id);
    net::Packet ack = net::Packet::ack(packet, now);
    ack.set_offset(static_cast<std::uint32_t>(message.message.bytes.count()));
    ack.set_packets(1);
    fabric_.send_ack(ack);
  }
  return writing_;
}

void Nic::expect(const net::Packet& packet) {
  if (packet.kind() == net::PacketKind::kAck) {
    MoveTable::Entry& entry = moves_[packet.flow()];
    if (entry.acknowledge(sim::Bytes{packet.acknowledged()}, packet.arrives))
      entry.pipeline->settled(packet.flow());
  } else {
    signals_.seen_at(packet.flow(), packet.arrives + setup_.spec->pcie_latency);
  }
}

void Nic::departed(const net::Packet& packet) {
  moves_[packet.flow()].pipeline->departed(sim::Bytes{packet.payload()});
}

}  // namespace infold::gpu
