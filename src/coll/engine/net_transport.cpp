// What proxies and NICs do, step by step.
#include "coll/engine/net_transport.h"

#include <algorithm>
#include <utility>

#include "sim/check.h"
#include "sim/random.h"

namespace infold::coll {

NetTransport::NetTransport(gpu::Machine& machine, std::vector<PacketConnection>& connections,
                           std::uint64_t slots, bool values, Client client)
    : machine_(machine),
      connections_(connections),
      slots_(slots),
      records_(2 * slots),
      has_values_(values),
      client_(std::move(client)) {}

/// A collective that was broken off may have messages under way; their machine is not used again.
NetTransport::~NetTransport() = default;

void NetTransport::release() {
  if (!std::exchange(has_signals_, false)) return;
  for (const Way& way : ways_) {
    machine_.signals().remove(way.clear);
    machine_.signals().remove(way.empty);
    machine_.nic(way.from).release_queue(way.queue);
  }
}

std::uint32_t NetTransport::add(std::uint32_t connection, int from_gpu, int to_gpu) {
  const auto number = static_cast<std::uint32_t>(ways_.size());
  Way& way = ways_.emplace_back();
  way.connection = connection;
  way.from = from_gpu;
  way.to = to_gpu;
  way.queue = machine_.nic(from_gpu).take_queue();
  // Switches pick a way by a hash of what names the flow: here its ends and its number.
  way.flow = static_cast<std::uint16_t>(sim::mix((static_cast<std::uint64_t>(from_gpu) << 40) ^
                                                 (static_cast<std::uint64_t>(to_gpu) << 20) ^ connection));
  way.slots.resize(records_);
  if (has_values_) way.values.resize(records_);
  way.clear = machine_.signals().add({this, number * kWhats + kClear, way.flow, /*at_port=*/false});
  way.empty = machine_.signals().add({this, number * kWhats + kEmpty, way.flow, /*at_port=*/false});
  return number;
}

void NetTransport::schedule(sim::Time at, std::uint32_t way, What what) {
  machine_.events().schedule(at, sim::Priority::kWork, *this, way * kWhats + what);
}

/// A flag that the proxy sets for a workgroup.
void NetTransport::flag(gpu::SignalId signal, int gpu, sim::Time at) {
  machine_.signals().seen_at(signal, at + machine_.proxy(gpu).spec().wake + machine_.spec().gpu.poll);
}

void NetTransport::open(std::uint32_t way) {
  schedule(machine_.events().now(), way, kFreed);
}

void NetTransport::expect(std::uint32_t way, std::uint64_t number, const gpu::Place& here,
                          const gpu::Place& there, sim::Bytes wire, bool in_output) {
  Slot& slot = this->slot(ways_[way], number);
  slot.here = here;
  slot.there = there;
  slot.wire = wire;
  slot.in_output = in_output;
}

void NetTransport::announce(std::uint32_t way, std::uint64_t number, bool speaks) {
  slot(ways_[way], number).speaks = speaks;
  schedule(machine_.events().now() + machine_.spec().host.notify, way, kReady);
}

void NetTransport::give_back(std::uint32_t way) {
  schedule(machine_.events().now() + machine_.spec().host.notify, way, kFreed);
}

void NetTransport::handle(std::uint32_t arg) {
  const std::uint32_t number = arg / kWhats;
  Way& way = ways_[number];
  const gpu::HostSpec& host = machine_.spec().host;
  const sim::Time now = machine_.events().now();
  switch (static_cast<What>(arg % kWhats)) {
    case kReady:
      ++way.ready;
      return post(number);
    case kPost:
      return send(number);
    case kSent: {  // the slot of the sender is free
      const PacketConnection& c = connections_[way.connection];
      return flag(c.head_flag, way.from, machine_.proxy(way.from).serve(now, host.completion));
    }
    case kClear:
      way.cleared += way.opened ? 1 : slots_;
      way.opened = true;
      post(number);
      return client_.control_seen();
    case kEmpty: {
      const std::uint64_t slice = way.empties.front();
      way.empties.pop_front();
      return slice_landed(number, slice);
    }
    case kSeen: {
      const sim::Time done = machine_.proxy(way.to).serve(now, host.completion);
      Slot& seen = slot(way, way.seen++);
      const bool has_data = std::exchange(seen.wire, {}) > sim::Bytes{};
      if (seen.speaks) return client_.control_seen();
      return flag(connections_[way.connection].tail_flag, way.to, has_data ? done + host.flush : done);
    }
    case kFreed:
      return schedule(machine_.proxy(way.to).serve(now, host.post), number, kGrant);
    case kGrant:
      return machine_.nic(way.to).notify(way.clear, way.from, way.flow);
  }
}

/// Takes up what is ready and cleared, in order.
void NetTransport::post(std::uint32_t number) {
  Way& way = ways_[number];
  gpu::Proxy& proxy = machine_.proxy(way.from);
  while (way.posting < std::min(way.ready, way.cleared)) {
    ++way.posting;
    schedule(proxy.serve(machine_.events().now(), proxy.spec().post), number, kPost);
  }
}

void NetTransport::send(std::uint32_t number) {
  Way& way = ways_[number];
  const std::uint64_t slice = way.posted++;
  const Slot& slot = this->slot(way, slice);
  gpu::Nic& nic = machine_.nic(way.from);
  if (slot.wire == sim::Bytes{}) {
    way.empties.push_back(slice);
    nic.notify(way.empty, way.to, way.flow);
    ++way.sent;
    return schedule(machine_.events().now(), number, kSent);
  }
  gpu::Message message;
  message.to = way.to;
  message.here = slot.here;
  message.there = slot.there;
  message.bytes = slot.wire;
  message.flow = way.flow;
  message.pieces = slot.speaks || has_values_;
  message.client = this;
  message.cookie = cookie_of(number, slice);
  nic.write(way.queue, message);
}

/// Messages of a way land in order, and fewer than there are records are under way.
std::uint64_t NetTransport::number_of(const Way& way, std::uint32_t cookie) const {
  const std::uint64_t record = cookie % records_;
  return way.landed + (record + records_ - way.landed % records_) % records_;
}

void NetTransport::message_sent(std::uint32_t cookie) {
  const auto number = static_cast<std::uint32_t>(cookie / records_);
  ++ways_[number].sent;
  schedule(machine_.events().now(), number, kSent);
}

void NetTransport::piece_landed(std::uint32_t cookie, std::uint32_t offset, std::uint32_t bytes) {
  Way& way = ways_[cookie / records_];
  const std::uint64_t number = number_of(way, cookie);
  const Slot& landing = slot(way, number);
  client_.landed({.connection = way.connection,
                  .number = number,
                  .offset = offset,
                  .bytes = bytes,
                  .speaks = landing.speaks,
                  .in_output = landing.in_output,
                  .place = landing.there.offset,
                  .values = has_values_ ? &way.values[number % records_] : nullptr});
}

void NetTransport::message_landed(std::uint32_t cookie) {
  const auto number = static_cast<std::uint32_t>(cookie / records_);
  slice_landed(number, number_of(ways_[number], cookie));
}

/// A slice without data may overtake one with data, but is not seen before it.
void NetTransport::slice_landed(std::uint32_t number, std::uint64_t slice) {
  Way& way = ways_[number];
  slot(way, slice).landed = true;
  while (std::exchange(slot(way, way.landed).landed, false)) {
    ++way.landed;
    schedule(machine_.events().now(), number, kSeen);
  }
}

}  // namespace infold::coll
