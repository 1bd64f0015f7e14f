// Reads pieces, writes pieces, and implements the barrier between passes.
#include "gpu/kernel/stream_kernel.h"

#include <algorithm>
#include <utility>

#include "gpu/kernel/tile_loop.h"
#include "gpu/sm/sm.h"
#include "sim/check.h"

namespace infold::gpu {

StreamKernel::StreamKernel(Core& core, StreamShape shape)
    : core_(core),
      shape_(std::move(shape)),
      stays_(shape_.residency != Residency::kAny),
      port_(sim::Bandwidth::bytes_per_s(core.spec().sm_port.count() * core.spec().clock.count_hz())) {
  INFOLD_CHECK(stays_ || shape_.passes.size() == 1, "passes wait for one another, so they stay resident");
  for (const StreamPass& p : shape_.passes) {
    for (const Tensor& t : p.reads) blocks_ = std::max(blocks_, t.blocks());
    for (const Tensor& t : p.writes) blocks_ = std::max(blocks_, t.blocks());
  }
  const std::int64_t at_once =
      core.spec().sm.outstanding.count() / std::max(workgroups_per_sm(core.spec().sm, footprint()), 1);
  for (const StreamPass& p : shape_.passes) cuts_.push_back(cut(p, at_once));
}

Footprint StreamKernel::footprint() const {
  return {.threads = std::min(kThreads, core_.spec().sm.threads), .shared_memory = {}, .registers = {}};
}

StreamKernel::Cut StreamKernel::cut(const StreamPass& pass, std::int64_t at_once) const {
  std::int64_t bytes = 0;
  for (const Tensor& t : pass.reads) bytes += Tensor::kBlockElements * t.element_bytes();
  if (pass.reads.empty()) {
    for (const Tensor& t : pass.writes) bytes += Tensor::kBlockElements * t.element_bytes();
  }
  Cut c;
  c.blocks = std::max<std::int64_t>(at_once / bytes, 1);
  while (bytes / c.parts > at_once && c.parts < kMostParts) c.parts *= 2;
  c.runs = (blocks_ + c.blocks - 1) / c.blocks;
  // A small tensor is spread over all SMs once.
  const std::int64_t resident = std::max(
      std::int64_t{core_.spec().sms} * workgroups_per_sm(core_.spec().sm, footprint()), std::int64_t{1});
  c.each = std::max<std::int64_t>(
      std::min(kBytesEach / (bytes * c.blocks), (c.runs + resident - 1) / resident), 1);
  return c;
}

Launch StreamKernel::launch() {
  const Footprint f = footprint();
  const Cut& first = cuts_.front();
  std::int64_t grid = (first.runs + first.each - 1) / first.each;
  if (stays_) {
    const std::int64_t fits =
        std::int64_t{workgroups_per_sm(core_.spec().sm, f)} * core_.dispatcher().usable_sms(shape_.actor);
    grid = std::min(first.runs, fits);
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
  const std::uint32_t slot = resident_.take({.index = index, .sm = sm});
  core_.events().schedule(core_.events().now() + core_.spec().sm.workgroup_start, sim::Priority::kWork, *this,
                          slot);
}

/// Workgroups that stay take runs in a fixed stride; others take some consecutive runs.
StreamKernel::Piece StreamKernel::piece_of(const Workgroup& w, std::int64_t i) const {
  const Cut& c = cuts_[w.pass];
  const std::int64_t nth = i / c.parts;
  const std::int64_t run = stays_ ? w.index + nth * grid() : w.index * c.each + nth;
  return {.begin = run * c.blocks, .end = (run + 1) * c.blocks, .part = i % c.parts, .parts = c.parts};
}

void StreamKernel::enter_pass(Workgroup& w, std::uint32_t slot) {
  const Cut& c = cuts_[w.pass];
  const std::int64_t runs =
      stays_ ? (c.runs - w.index + grid() - 1) / grid() : std::min(c.each, c.runs - w.index * c.each);
  w.done = 0;
  w.mine = runs * c.parts;
  const sim::Time now = core_.events().now();
  core_.events().schedule(w.mine > 0 ? load(w, now) : now, sim::Priority::kWork, *this, slot);
}

/// When the next piece, if asked for now, has arrived.
sim::Time StreamKernel::load(const Workgroup& w, sim::Time now) {
  const Piece piece = piece_of(w, w.done);
  sim::Time ready = now;
  std::int64_t bytes = 0;
  for (const Tensor& t : shape_.passes[w.pass].reads) {
    const std::int64_t end = std::min(piece.end, t.blocks());
    for (std::int64_t b = piece.begin; b < end; ++b) {
      const Block block = t.at(b);
      const std::uint32_t n = piece.of(block.bytes);
      bytes += n;
      ready =
          sim::max(ready, core_.memory().read_piece(shape_.actor, block, n, piece.upto(block.bytes), now));
    }
  }
  Sm& sm = core_.dispatcher().sm(w.sm);
  sm.load_port_free = sim::max(sm.load_port_free, now) + port_.time(sim::Bytes{bytes});
  return sim::max(ready, sm.load_port_free);
}

/// When the results of piece i have been computed and memory has taken them.
sim::Time StreamKernel::store(const Workgroup& w, std::int64_t i, sim::Time now) {
  const StreamPass& pass = shape_.passes[w.pass];
  const Piece piece = piece_of(w, i);
  Sm& sm = core_.dispatcher().sm(w.sm);
  const double elements =
      static_cast<double>(cuts_[w.pass].blocks * Tensor::kBlockElements) / static_cast<double>(piece.parts);
  sm.vector_free = sim::max(sm.vector_free, now) +
                   clocks(elements * pass.ops_per_element / core_.spec().sm.vector32, core_.spec().clock);
  sim::Time taken = sm.vector_free;
  std::int64_t bytes = 0;
  for (const Tensor& t : pass.writes) {
    const std::int64_t end = std::min(piece.end, t.blocks());
    for (std::int64_t b = piece.begin; b < end; ++b) {
      const Block block = t.at(b);
      const std::uint32_t n = piece.of(block.bytes);
      bytes += n;
      taken = sim::max(taken, core_.memory().write(shape_.actor, block, n, now));
    }
  }
  sm.store_port_free = sim::max(sm.store_port_free, now) + port_.time(sim::Bytes{bytes});
  return sim::max(taken, sm.store_port_free);
}

/// The last workgroup to arrive wakes the others.
void StreamKernel::wait_for_all(Workgroup& w, std::uint32_t slot) {
  ++w.pass;
  waiting_.push_back(slot);
  if (static_cast<int>(waiting_.size()) < grid()) return;
  // The flag is in L2: one access writes it, one reads it.
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
    // The loads of the next piece are issued with the stores of this one.
    const sim::Time taken = store(w, w.done, now);
    ++w.done;
    const sim::Time next = w.done < w.mine ? load(w, now) : now;
    core_.events().schedule(sim::max(next, taken), sim::Priority::kWork, *this, slot);
    return;
  }
  if (w.pass + 1 < shape_.passes.size()) {
    wait_for_all(w, slot);
    return;
  }
  const int sm = w.sm;
  resident_.give_back(slot);
  core_.dispatcher().workgroup_done(id_, sm);
}

}  // namespace infold::gpu
