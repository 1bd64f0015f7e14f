// Rounds on their way from role to role.
#include "coll/nvls_workgroup.h"

#include <fmt/format.h>

namespace infold::coll {

namespace {
gpu::UnitMover::Setup reduce_warps(const CrewContext& context, std::uint32_t sender) {
  const NvlsTuning& t = context.program.tuning.nvls;
  const gpu::GpuSpec& gpu = context.machine.spec().gpu;
  return {.sender = sender,
          .window = t.in_flight_per_thread * (32 * (t.zero_copy ? t.warps() : t.reduce_warps)),
          .rate = sim::Bandwidth::bytes_per_s(gpu.sm_port.count() * gpu.clock.count_hz())};
}
}  // namespace

NvlsWorkgroup::NvlsWorkgroup(const Setup& setup, const CrewContext& context, const Rounds& rounds,
                             Owner& owner)
    : setup_(setup),
      context_(context),
      rounds_(rounds),
      owner_(owner),
      gpu_(context.gpu(setup.rank)),
      mover_(reduce_warps(context, static_cast<std::uint32_t>(setup.channel)), context.machine.events(),
             gpu_.unit_port(), *this),
      staged_(static_cast<std::size_t>(context.program.ranks)),
      reduced_(static_cast<std::size_t>(context.program.ranks)) {
  share_ = std::make_unique<StagedShare>(context, setup.rank, *setup.step, setup.region, *this, rounds,
                                         setup.buffer, setup.slots);
  for (std::uint32_t from = 0; from < staged_.size(); ++from) {
    staged_flags_.push_back(context.machine.signals().add(*this, from * kEvents + kStaged));
    reduced_flags_.push_back(context.machine.signals().add(*this, from * kEvents + kReduced));
  }
}

void NvlsWorkgroup::start(std::vector<NvlsWorkgroup*> others) {
  const NvlsTuning& t = context_.program.tuning.nvls;
  others_ = std::move(others);
  if (share_->copies_in())
    copiers_[kScatter] = &gpu_.take_workgroup(t.in_flight_per_thread * (32 * t.scatter_warps), {});
  if (share_->copies_out())
    copiers_[kGather] = &gpu_.take_workgroup(t.in_flight_per_thread * (32 * t.gather_warps), {});
  started_ = true;
  advance();
}

/// Lets every role go on as far as it can.
void NvlsWorkgroup::advance() {
  if (!started_ || advancing_ || done_) return;
  advancing_ = true;
  while (scatter() || reduce() || gather()) {
  }
  advancing_ = false;
  const std::uint32_t count = rounds_.count();
  note_idle();
  if (copies_[kGather].round < count || told_staged_ < count || (reduces_here() && told_reduced_ < count) ||
      !mover_.done())
    return;
  done_ = true;
  for (gpu::Mover* m : copiers_) {
    if (m != nullptr) gpu_.release_workgroup(*m);
  }
  owner_.workgroup_done(*this);
}

void NvlsWorkgroup::note_idle() {
  const bool busy = copies_[kScatter].busy || copies_[kGather].busy || !mover_.done();
  const sim::Time now = context_.machine.events().now();
  if (busy && idle_since_ != sim::Time::never()) {
    waited_ += now - idle_since_;
    idle_since_ = sim::Time::never();
  } else if (!busy && idle_since_ == sim::Time::never()) {
    idle_since_ = now;
  }
}

bool NvlsWorkgroup::reduces_here() const {
  return setup_.step->who != NetWho::kRoot || setup_.rank == context_.program.root;
}

/// Who reduces has announced more than `round` rounds; everybody has, if everybody is asked.
bool NvlsWorkgroup::all(const std::vector<std::uint32_t>& counts, std::uint32_t round, bool heads) const {
  if (heads && setup_.step->who == NetWho::kRoot)
    return counts[static_cast<std::size_t>(context_.program.root)] > round;
  return std::ranges::all_of(counts, [&](std::uint32_t c) { return c > round; });
}

/// A slot is free when its last round has been taken out here; then all have reduced it, too.
bool NvlsWorkgroup::scatter() {
  Copy& c = copies_[kScatter];
  if (c.busy || c.round == rounds_.count() || c.round >= copies_[kGather].round + setup_.slots) return false;
  if (share_->copies_in()) return copy_next(kScatter);
  ++c.round;
  tell(true);
  return true;
}

bool NvlsWorkgroup::reduce() {
  if (!reduces_here()) return false;
  const auto n = static_cast<std::uint32_t>(context_.program.ranks);
  const auto own = static_cast<std::uint32_t>(setup_.rank);
  const bool root = setup_.step->who == NetWho::kRoot;
  const auto first = [&](std::uint32_t round) { return round * n + (root ? 0 : own); };
  // At the end of the message there may be rounds without a chunk for this rank.
  if (told_reduced_ < reducing_ && rounds_.bytes(first(told_reduced_)) == 0) {
    tell(false);
    return true;
  }
  if (reducing_ == rounds_.count() || !mover_.idle() || !all(staged_, reducing_, false)) return false;
  const std::uint32_t part = first(reducing_++);
  if (rounds_.bytes(part) == 0) return true;
  const auto chunk = static_cast<std::uint32_t>(rounds_.chunk());
  gpu::UnitTask task = share_->task();  // for what it does; the range is this round's
  task.begin = part * chunk;
  task.end = (part + (root ? n : 1)) * chunk;
  mover_.start(task);
  return true;
}

bool NvlsWorkgroup::gather() {
  Copy& c = copies_[kGather];
  if (c.busy || c.round == rounds_.count() || !all(reduced_, c.round, true)) return false;
  if (share_->copies_out()) return copy_next(kGather);
  ++c.round;
  return true;
}

/// Copies the next run of chunks of the round; chunks that lie side by side are one.
bool NvlsWorkgroup::copy_next(Role role) {
  Copy& c = copies_[role];
  const auto n = static_cast<std::uint32_t>(context_.program.ranks);
  const auto user = [&](std::uint32_t part) {
    return role == kScatter ? share_->input_of(part) : share_->output_of(part);
  };
  const std::uint32_t part = c.round * n + c.next;
  std::int64_t bytes = rounds_.bytes(part);
  std::uint32_t next = c.next + 1;
  while (next < n && rounds_.bytes(c.round * n + next) > 0 &&
         user(c.round * n + next) == user(part) + bytes && bytes % rounds_.chunk() == 0)
    bytes += rounds_.bytes(c.round * n + next++);
  const std::int64_t stage = share_->stage_of(part);
  c.from = role == kScatter ? user(part) : stage;
  c.to = role == kScatter ? stage : user(part);
  c.next = next;
  while (c.next < n && rounds_.bytes(c.round * n + c.next) == 0) ++c.next;
  c.busy = true;
  const std::uint64_t output = context_.buffers.output(setup_.rank);
  gpu::Move move;
  move.bytes = sim::Bytes{bytes};
  move.stores_here = true;
  move.sources[0] = {role == kScatter ? context_.buffers.input(setup_.rank) : output,
                     static_cast<std::uint64_t>(c.from)};
  move.here = {output, static_cast<std::uint64_t>(c.to)};
  move.client = this;
  move.cookie = role;
  copiers_[role]->start(move);
  return true;
}

void NvlsWorkgroup::move_complete(std::uint32_t role) {
  Copy& c = copies_[role];
  c.busy = false;
  if (c.next < static_cast<std::uint32_t>(context_.program.ranks)) {
    copy_next(static_cast<Role>(role));
    return;
  }
  c.next = 0;
  ++c.round;
  if (role == kScatter) fence(kScatterFenced);
  advance();
}

/// Before a flag may follow the data a spare warp fences, while the others go on.
void NvlsWorkgroup::fence(Event then) {
  sim::EventQueue& events = context_.machine.events();
  events.schedule(events.now() + gpu_.spec().fence, sim::Priority::kWork, *this, then);
}

/// Sets the flag of whoever waits for it.
void NvlsWorkgroup::tell(bool staged) {
  ++(staged ? told_staged_ : told_reduced_);
  for (const NvlsWorkgroup* other : others_) {
    if (staged && !other->reduces_here()) continue;
    const gpu::SignalId flag = staged ? other->staged_flag(setup_.rank) : other->reduced_flag(setup_.rank);
    gpu_.signal(flag, other->gpu_.id(), static_cast<std::uint32_t>(setup_.channel));
  }
}

void NvlsWorkgroup::task_issued() {
  advance();
}

void NvlsWorkgroup::task_complete() {
  fence(kReduceFenced);
  note_idle();
}

void NvlsWorkgroup::handle(std::uint32_t event) {
  switch (static_cast<Event>(event % kEvents)) {
    case kStaged:
      ++staged_[event / kEvents];
      break;
    case kReduced:
      ++reduced_[event / kEvents];
      break;
    case kScatterFenced:
      tell(true);
      break;
    case kReduceFenced:
      tell(false);
      break;
  }
  advance();
}

void NvlsWorkgroup::produce(std::uint32_t role, std::uint32_t offset, std::span<std::byte> out) {
  const Copy& c = copies_[role];
  Values& v = *context_.values;
  const auto source = role == kScatter ? v.input(setup_.rank) : v.memory(setup_.rank);
  std::ranges::copy(source.subspan(static_cast<std::size_t>(c.from) + offset, out.size()), out.begin());
  std::ranges::copy(out, v.memory(setup_.rank).begin() + c.to + offset);
}

std::string NvlsWorkgroup::why_waiting() const {
  if (done_ || !started_) return {};
  const auto where = [&](const char* what, std::uint32_t round) {
    return fmt::format("rank {} channel {} round {} of {}: {}", setup_.rank, setup_.channel, round + 1,
                       rounds_.count(), what);
  };
  const auto late = [&](const std::vector<std::uint32_t>& counts, std::uint32_t round) {
    return std::ranges::find_if(counts, [&](std::uint32_t c) { return c <= round; }) - counts.begin();
  };
  if (!mover_.done()) return where(mover_.why_waiting().c_str(), reducing_ - 1);
  if (reduces_here() && reducing_ < rounds_.count())
    return where(fmt::format("waits for rank {} to stage its data", late(staged_, reducing_)).c_str(),
                 reducing_);
  return where(
      fmt::format("waits for rank {} to reduce its chunk", late(reduced_, copies_[kGather].round)).c_str(),
      copies_[kGather].round);
}

}  // namespace infold::coll
