// What a GPU does with packets of switches that reduce.
#include "gpu/copy/switch_port.h"

#include <algorithm>

#include "gpu/copy/switch_client.h"
#include "sim/check.h"
#include "sim/random.h"

namespace infold::gpu {

namespace {
/// Replies, acknowledgements and finished sums together are one of the GPU's senders at the links.
constexpr std::uint32_t kAnswers = net::Fabric::kSenders - 1;
}  // namespace

SwitchPort::SwitchPort(net::NodeId gpu, const GpuSpec& spec, sim::EventQueue& events, net::Fabric& fabric,
                       MemorySystem& memory, inc::SwitchUnits& units, net::Payloads* payloads)
    : gpu_(gpu),
      spec_(spec),
      events_(events),
      fabric_(fabric),
      memory_(memory),
      units_(units),
      payloads_(payloads),
      fallback_(gpu, kAnswers, units.spec(), events, fabric, units.regions(), payloads, *this) {}

void SwitchPort::join(inc::RegionId id, int rank, bool pulls, UnitClient& client) {
  if (memberships_.size() <= id) memberships_.resize(id + std::size_t{1});
  const inc::Region& r = region(id);
  const auto parts = static_cast<std::size_t>((r.plan.bytes.count() + r.part() - 1) / r.part());
  const auto blocks = static_cast<std::uint32_t>(r.plan.bytes.count() / r.block()) + 1;
  Membership& m = memberships_[id];
  m = {};
  m.client = &client;
  m.rank = rank;
  m.pulls = pulls;
  m.reads.resize(parts);
  m.writes.resize(parts);
  m.reads_open.assign(parts, false);
  m.writes_open.assign(parts, false);
  m.sampled = (blocks + kMostSamples - 1) / kMostSamples;
  m.sent.assign(blocks / m.sampled + 1, sim::Time::never());
}

void SwitchPort::leave(inc::RegionId id) {
  memberships_[id] = {};
}

sim::Bytes SwitchPort::block_bytes(inc::RegionId id, std::uint32_t offset) {
  return sim::min(part_left(id, offset), sim::Bytes{region(id).block()});
}

sim::Bytes SwitchPort::part_left(inc::RegionId id, std::uint32_t offset) {
  const inc::Region& r = region(id);
  const std::uint32_t part = offset / r.part();
  const sim::Bytes left = client(id).part_bytes(part) - sim::Bytes{offset - part * r.part()};
  return sim::max(sim::Bytes{}, left);
}

sim::Time SwitchPort::read(inc::RegionId id, std::uint32_t offset, std::uint32_t bytes) {
  Membership& m = memberships_[id];
  const std::uint32_t part = offset / region(id).part();
  const UnitClient::Behind behind = m.client->behind(part);
  if (behind == UnitClient::Behind::kFlag) return events_.now() + spec_.l2.latency;
  if (behind == UnitClient::Behind::kNothing) return events_.now();
  if (!m.reads_open[part]) {
    const Place at = m.client->reads_from(part);
    m.reads[part] = {Actor::kCollective, at.buffer, at.offset,
                     static_cast<std::uint64_t>(m.client->part_bytes(part).count())};
    m.reads_open[part] = true;
  }
  return memory_.read(m.reads[part], bytes, events_.now()) + jitter(id, offset);
}

sim::Time SwitchPort::write(inc::RegionId id, std::uint32_t offset, std::uint32_t bytes) {
  Membership& m = memberships_[id];
  const std::uint32_t part = offset / region(id).part();
  if (m.client->behind(part) != UnitClient::Behind::kMemory) return events_.now();
  if (!m.writes_open[part]) {
    const Place at = m.client->writes_to(part);
    m.writes[part] = {Actor::kCollective, at.buffer, at.offset,
                      static_cast<std::uint64_t>(m.client->part_bytes(part).count())};
    m.writes_open[part] = true;
  }
  return memory_.write(m.writes[part], bytes, events_.now());
}

/// A random delay, uniform, because memory answers sooner or later depending on its banks and queues.
sim::Time SwitchPort::jitter(inc::RegionId id, std::uint32_t offset) const {
  const auto most = static_cast<std::uint64_t>(spec_.engine.reply_jitter.count_ps());
  if (most == 0) return {};
  const std::uint64_t what = (region(id).seed() << 32 | offset) + (static_cast<std::uint64_t>(gpu_) << 48);
  return sim::Time::ps(static_cast<std::int64_t>(sim::mix(what) % most));
}

void SwitchPort::send(net::PacketKind kind, inc::RegionId id, std::uint32_t offset, std::uint16_t payload,
                      std::uint32_t sender, net::ValuesId values) {
  net::Packet p(kind);
  p.set_flow(inc::Tag{id, static_cast<std::uint16_t>(memberships_[id].rank), 1}.flow());
  p.set_offset(offset);
  p.set_payload(payload);
  p.set_packets(region(id).packets(payload > 0 ? payload : block_bytes(id, offset).count()));
  p.set_source(gpu_);
  p.set_spread(units_.regions().way(id, offset));
  p.set_values(values);
  fabric_.send_to_unit(p, net::Fabric::through(region(id).plan.network, sender));
}

void SwitchPort::send_own(net::PacketKind kind, inc::RegionId id, std::uint32_t offset, std::uint16_t payload,
                          std::uint32_t sender) {
  Membership& m = memberships_[id];
  net::ValuesId values = 0;
  if (payloads_ != nullptr) {
    values = payloads_->take(payload);
    m.client->produce(offset, (*payloads_)[values]);
  }
  const std::uint32_t block = offset / region(id).block();
  if (kind == net::PacketKind::kReduceWrite && block % m.sampled == 0)
    m.sent[block / m.sampled] = events_.now();
  send(kind, id, offset, payload, sender, values);
}

sim::Time SwitchPort::receive(const net::Packet& packet) {
  const sim::Time now = events_.now();
  const inc::RegionId id = inc::Tag::of(packet.flow()).region;
  switch (packet.kind()) {
    case net::PacketKind::kLoadReduce: {
      const std::uint32_t slot = replies_.take(packet);
      const auto bytes = static_cast<std::uint32_t>(block_bytes(id, packet.offset()).count());
      events_.schedule(read(id, packet.offset(), bytes), sim::Priority::kWork, *this, slot);
      return now;
    }
    case net::PacketKind::kPartial:
      fallback_.receive(packet);
      return now;
    case net::PacketKind::kResult: {
      Membership& m = memberships_[id];
      const std::uint32_t part = packet.offset() / region(id).part();
      if (!m.pulls && m.client->behind(part) != UnitClient::Behind::kFlag) break;
      m.client->pipeline(part).result(id, packet.offset(), packet.payload(), packet.values());
      return now;
    }
    case net::PacketKind::kMulticastWrite:
      break;
    default:
      INFOLD_CHECK(false, "switches send a GPU what it acts on");
  }
  acknowledge(packet);
  const sim::Time taken = write(id, packet.offset(), packet.payload());
  take_in(packet);
  return taken;
}

void SwitchPort::acknowledge(const net::Packet& packet) {
  net::Packet ack = net::Packet::unit_ack(packet);
  ack.set_source(gpu_);
  const int network = region(inc::Tag::of(packet.flow()).region).plan.network;
  fabric_.send_to_unit(ack, net::Fabric::through(network, kAnswers));
}

void SwitchPort::take_in(const net::Packet& packet) {
  const inc::RegionId id = inc::Tag::of(packet.flow()).region;
  Membership& m = memberships_[id];
  if (payloads_ != nullptr) {
    m.client->consume(packet.offset(), (*payloads_)[packet.values()]);
    payloads_->give_back(packet.values());
  }
  const std::uint32_t block = packet.offset() / region(id).block();
  if (block % m.sampled == 0 && m.sent[block / m.sampled] != sim::Time::never()) {
    latency_.sum += events_.now() - m.sent[block / m.sampled];
    ++latency_.blocks;
  }
  m.client->received(packet.offset(), sim::Bytes{packet.payload()});
}

/// The data of a contribution that was asked for are here.
void SwitchPort::handle(std::uint32_t slot) {
  const net::Packet request = replies_[slot];
  replies_.give_back(slot);
  const inc::RegionId id = inc::Tag::of(request.flow()).region;
  const sim::Bytes bytes = block_bytes(id, request.offset());
  send_own(net::PacketKind::kReply, id, request.offset(), static_cast<std::uint16_t>(bytes.count()),
           kAnswers);
  memberships_[id].client->replied(request.offset(), bytes);
}

void SwitchPort::expect(const net::Packet& packet) {
  const inc::RegionId id = inc::Tag::of(packet.flow()).region;
  memberships_[id].client->pipeline(packet.offset() / region(id).part()).acknowledged(packet);
}

void SwitchPort::departed(const net::Packet& packet) {
  if (packet.kind() != net::PacketKind::kReduceWrite && packet.kind() != net::PacketKind::kMulticastWrite)
    return;
  const inc::RegionId id = inc::Tag::of(packet.flow()).region;
  memberships_[id].client->pipeline(packet.offset() / region(id).part()).departed(packet);
}

void SwitchPort::sum_finished(inc::RegionId id, std::uint32_t offset, std::uint16_t payload,
                              std::span<const std::byte> values) {
  Membership& m = memberships_[id];
  SwitchClient& pipeline = m.client->pipeline(offset / region(id).part());
  net::ValuesId copy = 0;
  if (payloads_ != nullptr) {
    copy = payloads_->take(values.size());
    std::ranges::copy(values, (*payloads_)[copy].begin());
  }
  if (m.pulls || m.client->behind(offset / region(id).part()) == UnitClient::Behind::kFlag)
    return pipeline.result(id, offset, payload, copy);
  if (region(id).plan.result_to == inc::ResultTo::kAll) {
    pipeline.expect_more(id, offset);
    return send(net::PacketKind::kMulticastWrite, id, offset, payload, kAnswers, copy);
  }
  write(id, offset, payload);
  net::Packet here(net::PacketKind::kResult);
  here.set_flow(inc::Tag{id, 0, 1}.flow());
  here.set_offset(offset);
  here.set_payload(payload);
  here.set_values(copy);
  take_in(here);
}

}  // namespace infold::gpu
