// Pieces in, pieces out, and the barrier between passes.
#include "gpu/stream_kernel.h"

#include <algorithm>
#include <utility>

#include "gpu/sm.h"
#include "gpu/tile_loop.h"
#include "sim/check.h"

namespace infold::gpu {

StreamKernel::StreamKernel(Core& core, StreamShape shape)
    : core_(core),
      shape_(std::move(shape)),
      stays_(shape_.residency != Residency::kAny),
      port_(sim::Bandwidth::bytes_per_s(core.spec().sm_port.count() * core.spec().clock.count_hz())) {
  INFOLD_CHECK(stays_ || shape_.passes.size() == 1, "passes wait for one another, so they stay resident");
  for (const StreamPass& p : shape_.passes) {
    std::int64_t bytes = 0;
    for (const Tensor& t : p.reads) {
      blocks_ = std::max(blocks_, t.blocks());
      bytes += Tensor::kBlockElements * t.element_bytes();
    }
    for (const Tensor& t : p.writes) blocks_ = std::max(blocks_, t.blocks());
    per_.push_back(bytes == 0 ? 2 : std::max<std::int64_t>(kPiece / bytes, 1));
  }
}

Launch StreamKernel::launch() {
  const Footprint f{
      .threads = std::min(kThreads, core_.spec().sm.threads), .shared_memory = {}, .registers = {}};
  const std::int64_t pieces = (blocks_ + per_.front() - 1) / per_.front();
  std::int64_t grid = (pieces + kPiecesEach - 1) / kPiecesEach;
  if (stays_) {
    const std::int64_t fits =
        std::int64_t{workgroups_per_sm(core_.spec().sm, f)} * core_.dispatcher().usable_sms(shape_.actor);
    grid = std::min(pieces, fits);
  }
  return {.work = this,
          .workgroups = static_cast<int>(std::max<std::int64_t>(grid, 1)),
          .footprint = f,
          .actor = shape_.actor,
          .residency = shape_.residency};
}

double StreamKernel::flops() const {
  double sum = 0;
  for (const StreamPass& p : shape_.passes) {
    const Tensor& t = p.reads.empty() ? p.writes.front() : p.reads.front();
    sum += p.ops_per_element * static_cast<double>(t.rows() * t.cols());
  }
  return sum;
}

void StreamKernel::begin(KernelId id, int workgroups) {
  id_ = id;
  begin_at(core_.events().now(), workgroups);
}

void StreamKernel::start(int index, int sm) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(resident_.size()));
    resident_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Workgroup w;
  w.index = index;
  w.sm = sm;
  resident_[slot] = w;
  core_.events().schedule(core_.events().now() + core_.spec().sm.workgroup_start, sim::Priority::kWork, *this,
                          slot);
}

/// Workgroups that stay take every so manieth piece; others have a run of them.
std::int64_t StreamKernel::piece_of(const Workgroup& w, std::int64_t i) const {
  return stays_ ? w.index + i * grid() : w.index * kPiecesEach + i;
}

void StreamKernel::enter_pass(Workgroup& w, std::uint32_t slot) {
  const std::int64_t pieces = (blocks_ + per_[w.pass] - 1) / per_[w.pass];
  w.done = 0;
  w.mine = stays_ ? (pieces - w.index + grid() - 1) / grid()
                  : std::min(kPiecesEach, pieces - w.index * kPiecesEach);
  const sim::Time now = core_.events().now();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(kAhead, w.mine); ++i) load(w, i, now);
  const sim::Time first = w.mine > 0 ? w.ready[0] : now;
  core_.events().schedule(first, sim::Priority::kWork, *this, slot);
}

void StreamKernel::load(Workgroup& w, std::int64_t i, sim::Time now) {
  const StreamPass& pass = shape_.passes[w.pass];
  const std::int64_t begin = piece_of(w, i) * per_[w.pass];
  sim::Time ready = now;
  std::int64_t bytes = 0;
  for (const Tensor& t : pass.reads) {
    const std::int64_t end = std::min(begin + per_[w.pass], t.blocks());
    for (std::int64_t b = begin; b < end; ++b) {
      const Block block = t.at(b);
      bytes += block.bytes;
      ready = sim::max(ready, core_.memory().read(shape_.actor, block, now));
    }
  }
  Sm& sm = core_.dispatcher().sm(w.sm);
  sm.load_port_free = sim::max(sm.load_port_free, now) + port_.time(sim::Bytes{bytes});
  w.ready[static_cast<std::size_t>(i % kAhead)] = sim::max(ready, sm.load_port_free);
}

sim::Time StreamKernel::store(const Workgroup& w, std::int64_t i, sim::Time now) {
  const StreamPass& pass = shape_.passes[w.pass];
  const std::int64_t begin = piece_of(w, i) * per_[w.pass];
  Sm& sm = core_.dispatcher().sm(w.sm);
  const double elements = static_cast<double>(per_[w.pass] * Tensor::kBlockElements);
  sm.vector_free = sim::max(sm.vector_free, now) +
                   clocks(elements * pass.ops_per_element / core_.spec().sm.vector32, core_.spec().clock);
  sim::Time taken = sm.vector_free;
  std::int64_t bytes = 0;
  for (const Tensor& t : pass.writes) {
    const std::int64_t end = std::min(begin + per_[w.pass], t.blocks());
    for (std::int64_t b = begin; b < end; ++b) {
      const Block block = t.at(b);
      bytes += block.bytes;
      taken = sim::max(taken, core_.memory().write(shape_.actor, block, now));
    }
  }
  sm.store_port_free = sim::max(sm.store_port_free, now) + port_.time(sim::Bytes{bytes});
  return sim::max(taken, sm.store_port_free);
}

/// The last one to come wakes the others.
void StreamKernel::wait_for_all(Workgroup& w, std::uint32_t slot) {
  ++w.pass;
  waiting_.push_back(slot);
  if (static_cast<int>(waiting_.size()) < grid()) return;
  // A flag in L2: one to say so, one to see it.
  const sim::Time seen = core_.events().now() + core_.spec().l2.latency * 2;
  for (const std::uint32_t other : waiting_) {
    resident_[other].started = false;
    core_.events().schedule(seen, sim::Priority::kWork, *this, other);
  }
  waiting_.clear();
}

void StreamKernel::handle(std::uint32_t slot) {
  Workgroup& w = resident_[slot];
  if (!w.started) {
    w.started = true;
    enter_pass(w, slot);
    return;
  }
  const sim::Time now = core_.events().now();
  if (w.done < w.mine) {
    const sim::Time taken = store(w, w.done, now);
    ++w.done;
    if (const std::int64_t ahead = w.done + kAhead - 1; ahead < w.mine) load(w, ahead, now);
    const sim::Time next = w.done < w.mine ? w.ready[static_cast<std::size_t>(w.done % kAhead)] : now;
    core_.events().schedule(sim::max(next, taken), sim::Priority::kWork, *this, slot);
    return;
  }
  if (w.pass + 1 < shape_.passes.size()) {
    wait_for_all(w, slot);
    return;
  }
  const int sm = w.sm;
  free_.push_back(slot);
  core_.dispatcher().workgroup_done(id_, sm);
}

}  // namespace infold::gpu
