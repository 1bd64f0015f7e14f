// Decides what hits, what is fetched, and what is evicted for it.
#include "gpu/memory/memory_system.h"

#include <algorithm>

#include "net/fabric.h"
#include "sim/check.h"

namespace infold::gpu {

MemorySystem::MemorySystem(const GpuSpec& spec, const Contention& contention)
    : latency_(spec.l2.latency), access_(spec.hbm.access) {
  const std::size_t l2_copies = contention.l2 ? 1 : kActors;
  const std::size_t hbm_copies = contention.hbm ? 1 : kActors;
  l2s_.assign(l2_copies, L2(spec));
  hbms_.assign(hbm_copies, Hbm(spec.hbm));
  for (std::size_t a = 0; a < kActors; ++a) {
    l2_[a] = &l2s_[a % l2_copies];
    hbm_[a] = &hbms_[a % hbm_copies];
  }
}

void MemorySystem::set_port(net::Port& port) {
  port_ = &port;
  port.keep_due_in(due_);
}

void MemorySystem::ask_port(sim::Time now) {
  port_->catch_up(now);
}

/// When the room that is needed is available: memory has taken what had to be evicted.
[[gnu::always_inline]] inline sim::Time MemorySystem::make_room(L2& l2, sim::Time now) {
  sim::Time taken = now;
  l2.make_room([&](const L2::Line& line) {
    traffic_.of[line.writer].hbm_written += line.dirty;
    taken = sim::max(taken, hbm_[line.writer]->write(line.key, line.dirty, now));
  });
  return taken;
}

/// When the first `need` bytes of a block are at L2, of which at most `most` are fetched.
[[gnu::always_inline]] inline sim::Time MemorySystem::fetch(Actor actor, const Block& block,
                                                            std::uint32_t most, std::uint32_t need,
                                                            sim::Time now) {
  L2& l2 = *l2_[index_of(actor)];
  L2::Line& line = l2.use(block.key);
  if (line.filled >= need) return line.ready;
  const std::uint32_t missing = std::min(need - line.filled, most);
  traffic_[actor].hbm_read += missing;
  const sim::Time ready = sim::max(line.ready, hbm_[index_of(actor)]->read(block.key, missing, now));
  line.ready = ready;
  l2.grow(line, line.filled + missing);
  make_room(l2, now);
  return ready;
}

[[gnu::always_inline]] inline sim::Time MemorySystem::allocate(Actor actor, const Block& block,
                                                               std::uint32_t n, sim::Time now) {
  L2& l2 = *l2_[index_of(actor)];
  L2::Line& line = l2.use(block.key);
  line.writer = static_cast<std::uint8_t>(index_of(actor));
  line.dirty = static_cast<std::uint16_t>(std::min(line.dirty + n, block.bytes));
  if (line.dirty <= line.filled) return now;
  l2.grow(line, line.dirty);
  return make_room(l2, now);
}

sim::Time MemorySystem::read(Actor actor, const Block& block, std::uint32_t n, std::uint32_t most,
                             std::uint32_t need, sim::Time now) {
  INFOLD_DCHECK(n <= need && need <= block.bytes, "what is read lies within its block");
  catch_up(now);
  traffic_[actor].l2_read += n;
  const sim::Time through = l2_[index_of(actor)]->pass(sim::Bytes{n}, now);
  return sim::max(through, fetch(actor, block, most, need, now)) + latency_;
}

sim::Time MemorySystem::write(Actor actor, const Block& block, std::uint32_t n, sim::Time now) {
  catch_up(now);
  traffic_[actor].l2_written += n;
  const sim::Time through = l2_[index_of(actor)]->pass(sim::Bytes{n}, now);
  return sim::max(through, allocate(actor, block, n, now));
}

/// Moves on to the next block of a run; returns what was left of the previous one. Everything that the run
/// will access of the block is fetched, given room and counted now.
std::uint32_t MemorySystem::next_block(Cursor& c, sim::Time now, bool reading) {
  INFOLD_DCHECK(c.bytes_ > 0, "a run is not longer than announced");
  const std::uint32_t rest = c.left_;
  const auto n =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(c.bytes_, AddressSpace::kBufferBlock - c.begin_));
  const Block block{c.block_, static_cast<std::uint32_t>(AddressSpace::kBufferBlock)};
  if (reading) {
    traffic_[c.actor_].l2_read += n;
    // Bytes before the run in this block may be missing, and are not fetched for it.
    c.ready_ = fetch(c.actor_, block, n, n, now);
    c.missed_ = c.ready_ > now;
  } else {
    traffic_[c.actor_].l2_written += n;
    c.ready_ = allocate(c.actor_, block, n, now);
  }
  ++c.block_;
  l2_[index_of(c.actor_)]->prefetch(c.block_);  // it will be needed soon
  c.begin_ = 0;
  c.bytes_ -= n;
  c.left_ = n;
  return rest;
}

sim::Time MemorySystem::write_further(Cursor& c, std::uint32_t n, sim::Time now) {
  catch_up(now);
  const sim::Time through = l2_[index_of(c.actor_)]->pass(sim::Bytes{n}, now);
  while (n > c.left_) n -= next_block(c, now, /*reading=*/false);
  c.left_ -= n;
  return sim::max(through, c.ready_);
}

std::uint64_t MemorySystem::unwritten() const {
  std::uint64_t sum = 0;
  for (const L2& l2 : l2s_) sum += l2.dirty_bytes();
  return sum;
}
std::uint64_t MemorySystem::hbm_read_bytes() const {
  std::uint64_t sum = 0;
  for (const Hbm& h : hbms_) sum += h.read_bytes;
  return sum;
}
std::uint64_t MemorySystem::hbm_written_bytes() const {
  std::uint64_t sum = 0;
  for (const Hbm& h : hbms_) sum += h.written_bytes;
  return sum;
}

void MemorySystem::copy_compute_of(const MemorySystem& twin) {
  constexpr std::size_t kCompute = index_of(Actor::kCompute);
  *l2_[kCompute] = *twin.l2_[kCompute];
  *hbm_[kCompute] = *twin.hbm_[kCompute];
  traffic_[Actor::kCompute] = twin.traffic_[Actor::kCompute];
}

void MemorySystem::forget() {
  for (L2& l2 : l2s_) l2.clear();
}

}  // namespace infold::gpu
