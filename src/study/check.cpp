// The checks that concern more than one parameter.
#include "study/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "coll/chunking.h"
#include "gpu/machine.h"

namespace infold::study {

namespace {

/// No cut may fall inside an element, nor inside a 16-byte vector access.
std::optional<sim::Refusal> cuts_elements(const SystemSpec& system) {
  const auto odd = [](const char* path, sim::Bytes n) -> std::optional<sim::Refusal> {
    if (n.count() % coll::kVector == 0) return std::nullopt;
    return sim::Refusal{path, fmt::format("{} B is not a multiple of {} B", n.count(), coll::kVector)};
  };
  const net::FabricSpec& fabric = system.machine.fabric;
  if (auto refusal = odd("fabric.packet.payload", fabric.packet.payload)) return refusal;
  if (auto refusal = odd("fabric.interleave_block", fabric.interleave_block)) return refusal;
  const coll::Tuning& c = system.coll;
  if (c.in_flight_per_thread.count() * c.threads % coll::kVector != 0) {
    return sim::Refusal{"coll.in_flight_per_thread",
                        fmt::format("{} threads of {} B are not a multiple of {} B", c.threads,
                                    c.in_flight_per_thread.count(), coll::kVector)};
  }
  const std::int64_t grain = coll::kVector * c.buffer_steps;
  if (c.buffer.count() % grain == 0) return std::nullopt;
  return sim::Refusal{"coll.buffer", fmt::format("{} B can not be cut into {} steps of a multiple of {} B",
                                                 c.buffer.count(), c.buffer_steps, coll::kVector)};
}

/// What travels as one must fit a switch's buffer several times over, or it would wait for ever.
std::optional<sim::Refusal> buffer_too_small(const net::FabricSpec& fabric) {
  constexpr std::int64_t kTimes = 4;
  constexpr std::int64_t kWarpAccess = 512;
  const std::int64_t payload = fabric.packet.payload.count();
  const std::int64_t unit = std::max(payload, kWarpAccess);
  const std::int64_t packets = (unit + payload - 1) / payload;
  const std::int64_t need =
      kTimes * (unit + packets * std::max(fabric.packet.header, fabric.packet.ack).count());
  if (fabric.switch_chip.buffer.count() >= need) return std::nullopt;
  return sim::Refusal{
      "fabric.switch.buffer",
      fmt::format("{} B are too few for packets of {} B and {} B of header; it needs {} B",
                  fabric.switch_chip.buffer.count(), payload, fabric.packet.header.count(), need)};
}

}  // namespace

std::optional<sim::Refusal> check(const SystemSpec& system) {
  const coll::Tuning& c = system.coll;
  if (c.slice_steps > c.buffer_steps) {
    return sim::Refusal{"coll.slice_steps", fmt::format("a slice of {} steps does not fit a buffer of {}",
                                                        c.slice_steps, c.buffer_steps)};
  }
  if (c.slices_per_chunk >= c.buffer_steps / c.slice_steps) {
    return sim::Refusal{
        "coll.slices_per_chunk",
        fmt::format(
            "a chunk of {} slices would fill the buffer, which holds {}; ranks that pass chunks on would "
            "wait for each other for ever",
            c.slices_per_chunk, c.buffer_steps / c.slice_steps)};
  }
  if (c.channels > system.machine.gpu.sms) {
    return sim::Refusal{"coll.channels", fmt::format("{} channels need an SM each, and the GPU has {}",
                                                     c.channels, system.machine.gpu.sms)};
  }
  if (auto refusal = cuts_elements(system)) return refusal;
  if (auto refusal = buffer_too_small(system.machine.fabric)) return refusal;
  return gpu::Machine::check(system.machine);
}

}  // namespace infold::study
