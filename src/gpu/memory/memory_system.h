// A GPU's memory system: L2 in front of HBM, used by everybody, each access on behalf of an actor.
//
// Times are reserved when an access is made, in the order of calls, so calls must be made when the access
// happens and not ahead of it. Bytes: what an actor reads or writes at L2 is counted as its own; so is what
// memory reads for it, and what memory writes later because this actor had written it.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/memory/hbm.h"
#include "gpu/memory/l2.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"
#include "sim/units.h"

namespace infold::gpu {

struct Traffic {
  std::uint64_t l2_read = 0;
  std::uint64_t l2_written = 0;
  std::uint64_t hbm_read = 0;
  std::uint64_t hbm_written = 0;  ///< so far; MemorySystem::unwritten() is still to come
  Traffic& operator+=(const Traffic& o) {
    l2_read += o.l2_read;
    l2_written += o.l2_written;
    hbm_read += o.hbm_read;
    hbm_written += o.hbm_written;
    return *this;
  }
};

class Inbox;

class alignas(64) MemorySystem {
 public:
  MemorySystem(const GpuSpec& spec, const Contention& contention);

  /// Before anybody's access, `inbox` is asked to make its own that are due by then.
  void set_inbox(Inbox& inbox) { inbox_ = &inbox; }
  /// The first of them is due then.
  void set_due(sim::Time due) { due_ = due; }
  /// All that are due by now have been made.
  void catch_up(sim::Time now) {
    if (due_ <= now) ask_inbox(now);
  }

  /// When `n` bytes of a block, asked for now, are at the SM's port. Of a block that is not all here `need`
  /// bytes are fetched (all the accesses to come will want, at least n).
  sim::Time read(Actor actor, const Block& block, std::uint32_t n, std::uint32_t need, sim::Time now);
  sim::Time read(Actor actor, const Block& block, sim::Time now) {
    return read(actor, block, block.bytes, block.bytes, now);
  }
  /// When `n` bytes of a block, offered now, have been taken.
  sim::Time write(Actor actor, const Block& block, std::uint32_t n, sim::Time now);
  sim::Time write(Actor actor, const Block& block, sim::Time now) {
    return write(actor, block, block.bytes, now);
  }

  /// A run of consecutive bytes of a buffer that is read or written in many small accesses, in order or
  /// nearly. The tags are looked up once a block; an access costs only its turn at the slices.
  class Cursor {
   public:
    Cursor() = default;
    /// `first_block` as AddressSpace::buffer gave it; the run begins `offset` bytes behind its start.
    Cursor(Actor actor, std::uint64_t first_block, std::uint64_t offset, std::uint64_t bytes)
        : block_(first_block + offset / AddressSpace::kBufferBlock),
          bytes_(bytes),
          begin_(static_cast<std::uint16_t>(offset % AddressSpace::kBufferBlock)),
          actor_(actor) {}

   private:
    friend class MemorySystem;
    sim::Time ready_;          // when the current block's bytes are at L2 (read) or have room (written)
    std::uint64_t block_ = 0;  // the next to look up
    std::uint64_t bytes_ = 0;  // behind the current block
    std::uint32_t left_ = 0;   // of the current block, bytes not accessed yet
    std::uint16_t begin_ = 0;  // where in the next block it goes on
    static_assert(AddressSpace::kBufferBlock <= 0x10000);
    bool missed_ = false;  // the current block had to be fetched: each access waits for memory itself
    Actor actor_ = Actor::kCompute;
  };
  /// As read and write. Requires: no more bytes in all than the cursor was made for.
  sim::Time read(Cursor& c, std::uint32_t n, sim::Time now) { return read_at_l2(c, n, now) + latency_; }
  /// The same when L2 has the bytes, for whoever looks at L2 again and again.
  sim::Time read_at_l2(Cursor& c, std::uint32_t n, sim::Time now) {
    catch_up(now);
    const sim::Time through = l2_[index_of(c.actor_)]->pass(sim::Bytes{n}, now);
    while (n > c.left_) n -= next_block(c, now, /*reading=*/true);
    c.left_ -= n;
    const sim::Time there = sim::max(through, c.ready_);
    return c.missed_ ? sim::max(there, now + access_) : there;
  }
  sim::Time write(Cursor& c, std::uint32_t n, sim::Time now) {
    catch_up(now);
    const sim::Time through = l2_[index_of(c.actor_)]->pass(sim::Bytes{n}, now);
    while (n > c.left_) n -= next_block(c, now, /*reading=*/false);
    c.left_ -= n;
    return sim::max(through, c.ready_);
  }

  const PerActor<Traffic>& traffic() const { return traffic_; }
  /// Written by somebody and still only in L2.
  std::uint64_t unwritten() const;
  /// What the memories themselves have counted, over all copies.
  std::uint64_t hbm_read_bytes() const;
  std::uint64_t hbm_written_bytes() const;
  /// From now on as if this one had done for compute what `twin` has done for it. Requires: built alike.
  void copy_compute_of(const MemorySystem& twin);
  /// L2 is empty again, as after long use by others. What was dirty is forgotten.
  void forget();

 private:
  void ask_inbox(sim::Time now);
  sim::Time fetch(Actor actor, const Block& block, std::uint32_t need, sim::Time now);
  sim::Time allocate(Actor actor, const Block& block, std::uint32_t n, sim::Time now);
  sim::Time make_room(L2& l2, sim::Time now);
  std::uint32_t next_block(Cursor& c, sim::Time now, bool reading);

  // What every access touches is one cache line.
  sim::Time due_ = sim::Time::never();
  sim::Time latency_;              // of a hit
  sim::Time access_;               // what a miss adds
  std::array<L2*, kActors> l2_{};  // each actor's
  Inbox* inbox_ = nullptr;
  std::array<Hbm*, kActors> hbm_{};  // the same
  PerActor<Traffic> traffic_;
  std::vector<L2> l2s_;
  std::vector<Hbm> hbms_;
};

}  // namespace infold::gpu
