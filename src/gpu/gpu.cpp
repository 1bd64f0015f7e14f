// What a GPU does with packets that arrive.
#include "gpu/gpu.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
sim::Bandwidth port_rate(const GpuSpec& spec) {
  return sim::Bandwidth::bytes_per_s(spec.sm_port.count() * spec.clock.count_hz());
}
}  // namespace

Gpu::Gpu(net::NodeId id, const GpuSpec& spec, sim::EventQueue& events, net::Network& network,
         MoveTable& moves, SignalTable& signals, net::Payloads* payloads, const CoreOptions& options,
         inc::SwitchUnits* units)
    : id_(id),
      spec_(spec),
      events_(events),
      network_(network),
      moves_(moves),
      signals_(signals),
      payloads_(payloads),
      core_(spec, events, options),
      memory_(core_.memory()),
      priority_(options.collective_priority) {
  if (units != nullptr)
    unit_port_ = std::make_unique<UnitPort>(id, spec, events, network, memory_, *units, payloads);
  network.attach(id, *this);
}

Mover& Gpu::take_workgroup(sim::Bytes window, sim::Bytes burst) {
  ++taken_;
  auto place = std::find(workgroups_.begin(), workgroups_.end(), nullptr);
  if (place == workgroups_.end()) place = workgroups_.insert(place, nullptr);
  const Mover::Setup setup{.gpu = id_,
                           .sender = static_cast<std::uint32_t>(place - workgroups_.begin()),
                           .window = window,
                           .outstanding = spec_.sm.outstanding,
                           .burst = burst,
                           .port = port_rate(spec_),
                           .poll = spec_.poll};
  *place = std::make_unique<Mover>(setup, events_, memory_, network_, moves_, payloads_);
  return **place;
}

void Gpu::release_workgroup(Mover& mover) {
  workgroups_[mover.sender()].reset();
  --taken_;
}

StreamId Gpu::communication_stream(std::size_t index) {
  while (communication_streams_.size() <= index)
    communication_streams_.push_back(core_.dispatcher().add_stream(priority_));
  return communication_streams_[index];
}

void Gpu::signal(SignalId signal, net::NodeId to, std::uint32_t sender) {
  if (to == id_) {
    signals_.seen_at(signal, events_.now() + spec_.poll);
    return;
  }
  net::Packet packet;
  packet.kind = net::PacketKind::kSignal;
  packet.flow = signal;
  packet.payload = kFlagBytes;
  packet.source = id_;
  packet.destination = to;
  packet.spread = static_cast<std::uint16_t>(signal);  // different flags, different links
  network_.send(packet, sender);
}

void Gpu::departed(const net::Packet& packet) {
  if (packet.kind != net::PacketKind::kWrite) return unit_port_->departed(packet);
  moves_[packet.flow].mover->departed(sim::Bytes{packet.payload});
}

sim::Time Gpu::receive(const net::Packet& packet) {
  if (packet.kind != net::PacketKind::kWrite) return unit_port_->receive(packet);
  MoveTable::Entry& entry = moves_[packet.flow];
  const Move& move = entry.move;
  if (payloads_ != nullptr) {
    const auto offset = static_cast<std::uint32_t>(move.encoding.data_in(packet.offset));
    move.client->consume(move.cookie, offset, (*payloads_)[packet.values]);
    payloads_->give_back(packet.values);
  }
  if (move.encoding.flags_inside) move.client->landed(move.cookie, packet.offset, packet.payload);
  net::Packet ack;
  ack.kind = net::PacketKind::kAck;
  ack.flow = packet.flow;
  ack.offset = packet.payload;  // how much of the flow is acknowledged
  ack.packets = packet.packets;
  ack.source = id_;
  ack.destination = packet.source;
  ack.spread = packet.spread;
  network_.send(ack, 0);
  return memory_.write(entry.arriving, packet.payload, events_.now());
}

void Gpu::expect(const net::Packet& packet) {
  if (packet.kind == net::PacketKind::kAck) {
    moves_[packet.flow].mover->acknowledged(packet.flow, sim::Bytes{packet.offset}, packet.arrives);
  } else if (packet.kind == net::PacketKind::kUnitAck) {
    unit_port_->expect(packet);
  } else {
    signals_.seen_at(packet.flow, packet.arrives + spec_.poll);
  }
}

}  // namespace infold::gpu
