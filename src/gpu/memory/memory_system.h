// The memory system of a GPU: L2 in front of HBM. Each access is made on behalf of an actor.
//
// Times are reserved when an access is made, in the order of calls, so calls must be made when the access
// happens and not ahead of it. Bytes that an actor reads or writes at L2 are counted as its own, and so are
// the bytes that memory reads for it and those that memory writes later because this actor had written them.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/memory/hbm.h"
#include "gpu/memory/l2.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"
#include "sim/units.h"

namespace infold::net {
class Port;
}

namespace infold::gpu {

struct Traffic {
  std::uint64_t l2_read = 0;
  std::uint64_t l2_written = 0;
  std::uint64_t hbm_read = 0;
  std::uint64_t hbm_written = 0;  ///< so far; MemorySystem::unwritten() is still to be written
  Traffic& operator+=(const Traffic& o) {
    l2_read += o.l2_read;
    l2_written += o.l2_written;
    hbm_read += o.hbm_read;
    hbm_written += o.hbm_written;
    return *this;
  }
};

class alignas(64) MemorySystem {
 public:
  MemorySystem(const GpuSpec& spec, const Contention& contention);

  /// Before every access, `port` is asked to hand over the data that has arrived by then, which leads to
  /// writes of its own.
  void set_port(net::Port& port);
  /// Data that has arrived by now has been written.
  void catch_up(sim::Time now) {
    if (due_ <= now) ask_port(now);
  }

  /// When `n` bytes of a block, if asked for now, are at the port of the SM. If not all of the block is
  /// present, `need` bytes are fetched: as many as the coming accesses will want, and at least n.
  sim::Time read(Actor actor, const Block& block, std::uint32_t n, std::uint32_t need, sim::Time now) {
    return read(actor, block, n, need, need, now);
  }
  sim::Time read(Actor actor, const Block& block, sim::Time now) {
    return read(actor, block, block.bytes, block.bytes, now);
  }
  /// The same for a block that is read once, from its beginning to its end, in pieces: the one of `n` bytes
  /// that ends `upto` bytes behind the beginning. Nothing but this piece is fetched, even if the block has
  /// been evicted since its previous piece.
  sim::Time read_piece(Actor actor, const Block& block, std::uint32_t n, std::uint32_t upto, sim::Time now) {
    return read(actor, block, n, n, upto, now);
  }
  /// When `n` bytes of a block, if offered now, have been taken.
  sim::Time write(Actor actor, const Block& block, std::uint32_t n, sim::Time now);
  sim::Time write(Actor actor, const Block& block, sim::Time now) {
    return write(actor, block, block.bytes, now);
  }

  /// A run of consecutive bytes of a buffer that is read or written in many small accesses, in order or
  /// nearly so. The tags are looked up once per block; an access costs only its turn at the slices.
  class Cursor {
   public:
    Cursor() = default;
    /// `first_block` is the value that AddressSpace::buffer returned; the run begins `offset` bytes behind
    /// its start.
    Cursor(Actor actor, std::uint64_t first_block, std::uint64_t offset, std::uint64_t bytes)
        : block_(first_block + offset / AddressSpace::kBufferBlock),
          bytes_(bytes),
          begin_(static_cast<std::uint16_t>(offset % AddressSpace::kBufferBlock)),
          actor_(actor) {}

   private:
    friend class MemorySystem;
    sim::Time ready_;          // when the bytes of the current block are at L2 (read) or have room (written)
    std::uint64_t block_ = 0;  // the next block to look up
    std::uint64_t bytes_ = 0;  // bytes of the run behind the current block
    std::uint32_t left_ = 0;   // bytes of the current block that are not accessed yet
    std::uint16_t begin_ = 0;  // where in the next block the run continues
    static_assert(AddressSpace::kBufferBlock <= 0x10000);
    bool missed_ = false;  // the current block had to be fetched: each access waits for memory itself
    Actor actor_ = Actor::kCompute;
  };
  /// Like read and write. Requires: no more bytes in all than the cursor was made for.
  sim::Time read(Cursor& c, std::uint32_t n, sim::Time now) { return read_at_l2(c, n, now) + latency_; }
  /// The time when the bytes are at L2, without the latency to the SM, for a poller that reads L2 repeatedly.
  sim::Time read_at_l2(Cursor& c, std::uint32_t n, sim::Time now) {
    catch_up(now);
    const sim::Time through = l2_[index_of(c.actor_)]->pass(sim::Bytes{n}, now);
    while (n > c.left_) n -= next_block(c, now, /*reading=*/true);
    c.left_ -= n;
    const sim::Time there = sim::max(through, c.ready_);
    return c.missed_ ? sim::max(there, now + access_) : there;
  }
  sim::Time write(Cursor& c, std::uint32_t n, sim::Time now) {
    if (n > c.left_ || due_ <= now) return write_further(c, n, now);
    c.left_ -= n;
    return sim::max(l2_[index_of(c.actor_)]->pass(sim::Bytes{n}, now), c.ready_);
  }

  const PerActor<Traffic>& traffic() const { return traffic_; }
  /// The number of bytes that were written and are still only in L2.
  std::uint64_t unwritten() const;
  /// The bytes that the memories themselves have counted, over all copies.
  std::uint64_t hbm_read_bytes() const;
  std::uint64_t hbm_written_bytes() const;
  /// Sets the state as if this memory had done for compute what `twin` has done for it. Requires: both were
  /// built alike.
  void copy_compute_of(const MemorySystem& twin);
  /// Empties L2, as after long use by others. Dirty bytes are dropped.
  void forget();

 private:
  void ask_port(sim::Time now);
  sim::Time read(Actor actor, const Block& block, std::uint32_t n, std::uint32_t most, std::uint32_t need,
                 sim::Time now);
  sim::Time fetch(Actor actor, const Block& block, std::uint32_t most, std::uint32_t need, sim::Time now);
  sim::Time allocate(Actor actor, const Block& block, std::uint32_t n, sim::Time now);
  sim::Time make_room(L2& l2, sim::Time now);
  std::uint32_t next_block(Cursor& c, sim::Time now, bool reading);
  /// The same as write, where the port must catch up or the run goes on in the next block. (A function of its
  /// own, so that most writes save no registers.)
  [[gnu::noinline]] sim::Time write_further(Cursor& c, std::uint32_t n, sim::Time now);

  // Everything that every access touches is in one cache line.
  sim::Time due_ = sim::Time::never();  // when the first data that the port keeps is due
  sim::Time latency_;                   // of a hit
  sim::Time access_;                    // what a miss adds
  std::array<L2*, kActors> l2_{};       // L2 of each actor
  net::Port* port_ = nullptr;
  std::array<Hbm*, kActors> hbm_{};  // HBM of each actor
  PerActor<Traffic> traffic_;
  std::vector<L2> l2s_;
  std::vector<Hbm> hbms_;
};

}  // namespace infold::gpu
