// Adding kernels, then copies; a slice is through when all of its copies are.
#include "gpu/copy/dma_path.h"

#include <algorithm>

#include "sim/check.h"

namespace infold::gpu {

namespace {
/// Workgroups get whole accesses, and no less than this each.
constexpr std::int64_t kLeastShare = 8192;
}  // namespace

DmaPath::DmaPath(Gpu& gpu, const Setup& setup)
    : gpu_(gpu),
      setup_(setup),
      sender_(gpu.copy_engine(setup.first_engine, setup.burst, setup.network).sender()) {}

void DmaPath::start(const Move& move, std::span<const Move> copies) {
  current_ = slices_.take();
  Slice& slice = slices_[current_];
  slice.targets.assign(1, move);
  slice.targets.insert(slice.targets.end(), copies.begin(), copies.end());
  slice.sum_slot = kNoSum;
  slice.open = static_cast<int>(slice.targets.size());
  slice.local = slice.first_sent = false;
  if (setup_.functional) slice.values.resize(static_cast<std::size_t>(move.bytes.count()));
  if (move.loads > 1) return add_up();
  // Everything that is to be copied is there.
  if (setup_.functional) move.client->produce(move.cookie, 0, slice.values);
  copy_on(move.sources[0], move.stores_here);
}

sim::Bytes DmaPath::share() const {
  const std::int64_t bytes = slices_[current_].targets[0].bytes.count();
  const std::int64_t even = (bytes + setup_.workgroups - 1) / setup_.workgroups;
  return sim::Bytes{(std::max(even, kLeastShare) + kVectorAccess - 1) / kVectorAccess * kVectorAccess};
}

/// A sum that is kept on this GPU is added up where it is kept, other sums in the buffer from which they are
/// sent.
Place DmaPath::sum_place() const {
  const Slice& slice = slices_[current_];
  if (slice.sum_slot == kNoSum) return slice.targets[0].here;
  return {setup_.sums, static_cast<std::uint64_t>((setup_.slot * slice.sum_slot).count())};
}

void DmaPath::add_up() {
  Slice& slice = slices_[current_];
  const Move& move = slice.targets[0];
  if (!move.stores_here) {
    needs_sum_ = sums_.used() == static_cast<std::size_t>(setup_.slots);
    if (needs_sum_) return;  // a copy that ends will call again
    slice.sum_slot = sums_.take();
  }
  Launch launch;
  launch.work = this;
  launch.workgroups = static_cast<int>((move.bytes.count() + share().count() - 1) / share().count());
  launch.footprint.threads = std::min(setup_.threads, gpu_.spec().sm.threads);
  launch.actor = Actor::kCollective;
  adders_.assign(static_cast<std::size_t>(launch.workgroups), {});
  gpu_.core().dispatcher().enqueue(setup_.stream, launch, gpu_.core().events().now());
}

void DmaPath::start(int workgroup, int sm) {
  Adder& adder = adders_[static_cast<std::size_t>(workgroup)];
  adder.pipeline = &gpu_.take_workgroup(setup_.window, setup_.burst, setup_.network);
  adder.sm = sm;
  sim::EventQueue& events = gpu_.core().events();
  events.schedule(events.now() + gpu_.spec().sm.workgroup_start, sim::Priority::kWork, *this,
                  static_cast<std::uint32_t>(workgroup));
}

/// A workgroup has set itself up, and adds its share.
void DmaPath::handle(std::uint32_t workgroup) {
  const Move& whole = slices_[current_].targets[0];
  const auto begin = static_cast<std::uint32_t>(share().count() * workgroup);
  Move move = whole;
  move.bytes = sim::min(share(), whole.bytes - sim::Bytes{begin});
  for (std::size_t i = 0; i < static_cast<std::size_t>(move.loads); ++i) move.sources[i].offset += begin;
  move.to = Move::kNowhere;
  move.stores_here = true;
  move.here = sum_place();
  move.here.offset += begin;
  move.client = this;
  move.cookie = parts_.take({Part::Kind::kSum, current_, workgroup, begin});
  adders_[workgroup].pipeline->start(move);
}

/// If there are as many engines as other GPUs, each has its own, so that no copy waits behind one to another
/// GPU; otherwise engines are assigned in turn.
std::size_t DmaPath::engine_for(int to) const {
  const int others = setup_.gpus - 1;
  const int each = others > 0 ? gpu_.spec().copy.engines / others : 0;
  if (each == 0) return setup_.first_engine + static_cast<std::size_t>(to);
  const int other = (to - gpu_.id() - 1 + setup_.gpus) % setup_.gpus;
  return static_cast<std::size_t>(other * each) + setup_.first_engine % static_cast<std::size_t>(each);
}

/// The kernel is done: its sums can be sent.
void DmaPath::finished(int) {
  copy_on(sum_place(), /*keep=*/false);
}

/// Sends the slice, which lies at `from`, to all its targets. With `keep`, it also has a place in this GPU's
/// memory.
void DmaPath::copy_on(const Place& from, bool keep) {
  Slice& slice = slices_[current_];
  const std::uint32_t index = current_;
  const bool sends = slice.targets[0].to != Move::kNowhere;
  const std::size_t targets = sends ? slice.targets.size() : 0;
  slice.local = keep;
  slice.to_issue = static_cast<int>(targets) + int{keep};
  if (slice.to_issue == 0) {  // it was added up where it stays
    slice.to_issue = 1;
    part_issued(slice);
    return target_complete(index, 0);
  }
  const auto copy = [&](Move move, Part::Kind kind, std::uint32_t target, std::size_t engine) {
    move.loads = 1;
    move.received = 0;
    move.sources[0] = from;
    move.client = this;
    move.cookie = parts_.take({kind, index, target, 0});
    gpu_.copy_engine(engine, setup_.burst, setup_.network).copy(move);
  };
  for (std::uint32_t t = 0; t < targets; ++t) {
    Move move = slice.targets[t];
    move.stores_here = false;
    copy(move, Part::Kind::kTarget, t, engine_for(move.to));
  }
  if (keep) {
    Move move = slice.targets[0];
    move.to = Move::kNowhere;
    copy(move, Part::Kind::kLocal, 0, setup_.first_engine);
  }
}

/// When all copies have loaded and what stays is stored, the next slice may come.
void DmaPath::part_issued(Slice& slice) {
  if (--slice.to_issue > 0) return;
  const Move& move = slice.targets[0];
  move.client->move_issued(move.cookie);
}

void DmaPath::move_issued(std::uint32_t part) {
  if (parts_[part].kind == Part::Kind::kTarget) part_issued(slices_[parts_[part].slice]);
}

void DmaPath::move_complete(std::uint32_t id) {
  const Part part = parts_[id];
  parts_.give_back(id);
  if (part.kind == Part::Kind::kSum) {
    const Adder adder = adders_[part.index];
    gpu_.release_workgroup(*adder.pipeline);
    gpu_.core().dispatcher().workgroup_done(kernel_, adder.sm);
    return;
  }
  if (part.kind == Part::Kind::kTarget) return target_complete(part.slice, part.index);
  Slice& slice = slices_[part.slice];
  slice.local = false;
  const bool done = slice.targets[0].to == Move::kNowhere || slice.first_sent;
  part_issued(slice);
  if (done) target_complete(part.slice, 0);
}

/// The first target is complete when the copy to this memory is, too.
void DmaPath::target_complete(std::uint32_t index, std::uint32_t target) {
  Slice& slice = slices_[index];
  if (target == 0 && slice.local) {
    slice.first_sent = true;
    return;
  }
  const Move& done = slice.targets[target];
  MoveClient* client = done.client;
  const std::uint32_t cookie = done.cookie;
  if (--slice.open == 0) close(index);
  client->move_complete(cookie);
}

void DmaPath::close(std::uint32_t index) {
  const std::uint32_t sum = slices_[index].sum_slot;
  slices_.give_back(index);
  if (sum == kNoSum) return;
  sums_.give_back(sum);
  if (needs_sum_) add_up();
}

void DmaPath::produce(std::uint32_t id, std::uint32_t offset, std::span<std::byte> out) {
  const Part& part = parts_[id];
  Slice& slice = slices_[part.slice];
  const auto values = std::span(slice.values).subspan(part.offset + offset, out.size());
  if (part.kind == Part::Kind::kSum) {
    const Move& move = slice.targets[0];
    move.client->produce(move.cookie, part.offset + offset, values);
  }
  std::ranges::copy(values, out.begin());
}

void DmaPath::consume(std::uint32_t id, std::uint32_t offset, std::span<const std::byte> values) {
  const Move& target = slices_[parts_[id].slice].targets[parts_[id].index];
  target.client->consume(target.cookie, offset, values);
}

}  // namespace infold::gpu
