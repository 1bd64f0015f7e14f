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

Gpu::Gpu(net::NodeId id, const GpuSpec& spec, sim::EventQueue& events, net::Fabric& fabric, MoveTable& moves,
         SignalTable& signals, net::Payloads* payloads, const CoreOptions& options, inc::SwitchUnits* units,
         net::NodeId first)
    : id_(id),
      first_(first),
      spec_(spec),
      events_(events),
      fabric_(fabric),
      moves_(moves),
      signals_(signals),
      payloads_(payloads),
      core_(spec, events, options),
      priority_(options.collective_priority) {
  if (units != nullptr)
    switch_port_ = std::make_unique<SwitchPort>(id, spec, events, fabric, core_.memory(), *units, payloads);
  core_.memory().set_port(fabric.attach(id - first, *this));
}

CopyPipeline& Gpu::take_workgroup(sim::Bytes window, sim::Bytes burst, int network) {
  ++taken_;
  return add_mover({.window = window,
                    .outstanding = spec_.sm.outstanding,
                    .burst = burst,
                    .port = port_rate(spec_),
                    .poll = spec_.poll},
                   network);
}

void Gpu::release_workgroup(CopyPipeline& pipeline) {
  remove_mover(pipeline);
  --taken_;
}

CopyPipeline& Gpu::take_accelerator_path(sim::Bytes window, sim::Bytes burst, int network) {
  return add_mover({.window = window,
                    .burst = burst,
                    .port = spec_.ace.bus,
                    .poll = {},
                    .adders = spec_.ace.rate(),
                    .payload = spec_.copy.payload,
                    .shared_port = &accelerator_port_},
                   network);
}

PeerCopyEngine& Gpu::copy_engine(std::size_t index, sim::Bytes burst, int network) {
  const auto n = static_cast<std::size_t>(spec_.copy.engines);
  const std::size_t before = n * static_cast<std::size_t>(network);
  while (copy_engines_.size() < before + n) {
    CopyPipeline& pipeline = add_mover({.window = spec_.copy.in_flight,
                                        .burst = burst,
                                        .port = spec_.copy.rate,
                                        .poll = {},
                                        .payload = spec_.copy.payload},
                                       static_cast<int>(copy_engines_.size() / n));
    copy_engines_.push_back(std::make_unique<PeerCopyEngine>(pipeline, events_, spec_.copy));
  }
  return *copy_engines_[before + index % n];
}

CopyPipeline& Gpu::add_mover(CopyPipeline::Setup setup, int network) {
  auto place = std::find(pipelines_.begin(), pipelines_.end(), nullptr);
  if (place == pipelines_.end()) place = pipelines_.insert(place, nullptr);
  setup.gpu = id_;
  setup.first = first_;
  setup.sender = net::Fabric::through(network, static_cast<std::uint32_t>(place - pipelines_.begin()));
  *place = std::make_unique<CopyPipeline>(setup, events_, core_.memory(), fabric_, moves_, payloads_);
  return **place;
}

void Gpu::remove_mover(CopyPipeline& pipeline) {
  pipelines_[pipeline.sender() % net::Fabric::kSendersOfNetwork].reset();
}

sim::Time Gpu::poll_of(SignalId signal) const {
  return signals_[signal].at_port ? sim::Time{} : spec_.poll;
}

StreamId Gpu::stream_of(std::vector<StreamId>& streams, std::size_t index, int above) {
  while (streams.size() < index) streams.push_back(core_.dispatcher().add_stream(priority_));
  if (streams.size() == index) streams.push_back(core_.dispatcher().add_stream(priority_ + above));
  return streams[index];
}

void Gpu::signal(SignalId signal, net::NodeId to, std::uint32_t sender) {
  if (to == id_) {
    signals_.seen_at(signal, events_.now() + poll_of(signal));
    return;
  }
  net::Packet packet(net::PacketKind::kSignal);
  packet.arrives = events_.now();
  packet.set_flow(signal);
  packet.set_payload(net::kFlagBytes);
  packet.set_source(id_ - first_);
  packet.set_destination(to - first_);
  packet.set_spread(signals_[signal].number);
  fabric_.send(packet, sender);
}

void Gpu::departed(const net::Packet& packet) {
  if (packet.kind() != net::PacketKind::kWrite) return switch_port_->departed(packet);
  moves_[packet.flow()].pipeline->departed(sim::Bytes{packet.payload()});
}

sim::Time Gpu::receive(const net::Packet& packet) {
  if (packet.kind() != net::PacketKind::kWrite) return switch_port_->receive(packet);
  MoveTable::Entry& entry = moves_[packet.flow()];
  const Move& move = entry.move;
  if (payloads_ != nullptr) give_values(move, packet);
  // What polls for the data finds them in L2, so they are written before it is told.
  const bool in_memory = !move.on_chip || move.lands;
  const sim::Time taken =
      in_memory ? core_.memory().write(entry.arriving, packet.payload(), events_.now()) : events_.now();
  if (move.encoding.flags_inside) move.client->landed(move.cookie, packet.offset(), packet.payload());
  acknowledge(packet, events_.now());
  return taken;
}

/// Nothing observes the arrival of a packet, unless something waits for single packets.
bool Gpu::expect_data(const net::Packet& packet) {
  if (packet.kind() != net::PacketKind::kWrite || !moves_[packet.flow()].ordinary) return false;
  acknowledge(packet, packet.arrives);
  return true;
}

sim::Time Gpu::take_in(const net::Packet& packet) {
  MoveTable::Entry& entry = moves_[packet.flow()];
  if (payloads_ != nullptr) give_values(entry.move, packet);
  return core_.memory().write(entry.arriving, packet.payload(), packet.arrives);
}

/// Functional mode: hands the values of a packet to the client of its move.
void Gpu::give_values(const Move& move, const net::Packet& packet) {
  const auto offset = static_cast<std::uint32_t>(move.encoding.data_in(packet.offset()));
  move.client->consume(move.cookie, offset, (*payloads_)[packet.values()]);
  payloads_->give_back(packet.values());
}

/// Tells the sender of the data that they are visible.
void Gpu::acknowledge(const net::Packet& packet, sim::Time at) {
  fabric_.send_ack(net::Packet::ack(packet, at));
}

void Gpu::expect(const net::Packet& packet) {
  if (packet.kind() == net::PacketKind::kAck) {
    MoveTable::Entry& entry = moves_[packet.flow()];
    if (entry.acknowledge(sim::Bytes{packet.acknowledged()}, packet.arrives))
      entry.pipeline->settled(packet.flow());
  } else if (packet.kind() == net::PacketKind::kUnitAck) {
    switch_port_->expect(packet);
  } else {
    signals_.seen_at(packet.flow(), packet.arrives + poll_of(packet.flow()));
  }
}

}  // namespace infold::gpu
