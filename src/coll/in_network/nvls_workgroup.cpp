// How rounds pass from role to role.
#include "coll/in_network/nvls_workgroup.h"

#include <fmt/format.h>

namespace infold::coll {

namespace {
/// The number of warps that move data in a role that sends: a spare warp fences and sets flags while the
/// others go on, if there are enough warps.
int workers(int warps) {
  return warps >= 3 ? warps - 1 : warps;
}

gpu::SwitchClient::Setup reduce_warps(const ExecutorContext& context, std::uint32_t sender,
                                      gpu::LoadBudget* loads) {
  const NvlsTuning& t = context.program.tuning.nvls;
  const gpu::GpuSpec& gpu = context.machine.spec().gpu;
  // With nothing to copy, one warp of each copying role is left to set flags.
  const int warps = t.zero_copy ? std::max(1, t.warps() - 2) : t.reduce_warps;
  return {.sender = sender,
          .window = t.in_flight_per_thread * (32 * workers(warps)),
          .run = t.in_flight_per_thread * 32,
          .rate = sim::Bandwidth::bytes_per_s(gpu.sm_port.count() * gpu.clock.count_hz()),
          .loads = loads};
}
}  // namespace

NvlsWorkgroup::NvlsWorkgroup(const Setup& setup, const ExecutorContext& context, const Rounds& rounds,
                             Owner& owner)
    : setup_(setup),
      context_(context),
      rounds_(rounds),
      owner_(owner),
      gpu_(context.gpu(setup.rank)),
      loads_(gpu_.spec().sm.outstanding),
      pipeline_(reduce_warps(context, static_cast<std::uint32_t>(setup.channel), &loads_),
                context.machine.events(), gpu_.switch_port(), *this),
      reduced_(static_cast<std::size_t>(context.program.ranks)) {
  share_ = std::make_unique<StagedRegion>(context, setup.rank, *setup.step, setup.region, *this, rounds,
                                          setup.buffer, setup.slots);
  const std::size_t first =
      static_cast<std::size_t>(setup.rank * context.program.channels + setup.channel) * reduced_.size();
  for (std::uint32_t from = 0; from < reduced_.size(); ++from) {
    reduced_flags_.push_back(context.machine.signals().add(
        {this, from * kEvents + kReduced, static_cast<std::uint16_t>(first + from)}));
  }
  gpu::UnitTask flags;
  flags.op = gpu::UnitOp::kPull;
  flags.region = setup.region;
  const std::uint32_t own = rounds.parts() + static_cast<std::uint32_t>(setup.rank);
  flags.begin = own * static_cast<std::uint32_t>(rounds.chunk());
  flags.end = flags.begin + static_cast<std::uint32_t>(kMeeting.count());
  poll_ =
      std::make_unique<SwitchPoll>(reduce_warps(context, static_cast<std::uint32_t>(setup.channel), nullptr),
                                   flags, context.machine.events(), gpu_.switch_port(), *this);
}

void NvlsWorkgroup::release_flags() {
  for (const gpu::SignalId flag : reduced_flags_) context_.machine.signals().remove(flag);
  reduced_flags_.clear();
}

std::unique_ptr<gpu::WarpCopier> NvlsWorkgroup::copier(Role role, int warps) {
  const gpu::GpuSpec& spec = gpu_.spec();
  return std::make_unique<gpu::WarpCopier>(
      gpu::WarpCopier::Setup{
          .warps = warps,
          .run = context_.program.tuning.nvls.in_flight_per_thread * 32,
          .port = sim::Bandwidth::bytes_per_s(spec.sm_port.count() * spec.clock.count_hz()),
          .functional = context_.values != nullptr,
          .loads = &loads_},
      context_.machine.events(), gpu_.core().memory(), *this, role);
}

void NvlsWorkgroup::start() {
  const NvlsTuning& t = context_.program.tuning.nvls;
  if (share_->copies_in()) copiers_[kScatter] = copier(kScatter, workers(t.scatter_warps));
  if (share_->copies_out()) copiers_[kGather] = copier(kGather, t.gather_warps);
  if (context_.trace != nullptr)
    trace_ = std::make_unique<NvlsTrace>(context_, setup_.rank, setup_.channel, share_->copies_in());
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
  if (trace_) note_trace();
  if (copies_[kGather].round < count || told_staged_ < count || (reduces_here() && told_reduced_ < count) ||
      !pipeline_.done())
    return;
  done_ = true;
  owner_.workgroup_done(*this);
}

void NvlsWorkgroup::note_idle() {
  const bool busy = copies_[kScatter].busy || copies_[kGather].busy || !pipeline_.done();
  const sim::Time now = context_.machine.events().now();
  if (busy && idle_since_ != sim::Time::never()) {
    waited_ += now - idle_since_;
    idle_since_ = sim::Time::never();
  } else if (!busy && idle_since_ == sim::Time::never()) {
    idle_since_ = now;
  }
}

void NvlsWorkgroup::note_trace() {
  const std::uint32_t count = rounds_.count();
  const auto copying = [&](const Copy& c) { return NvlsTrace::Role{c.busy, c.round, count}; };
  const bool reducing = !pipeline_.done();
  const std::uint32_t round = reducing ? reducing_ - 1 : reduces_here() ? reducing_ : count;
  trace_->now(context_.machine.events().now(), copying(copies_[kScatter]), {reducing, round, count},
              copying(copies_[kGather]));
}

bool NvlsWorkgroup::reduces_here() const {
  return setup_.step->who != NetWho::kRoot || setup_.rank == context_.program.root;
}

/// Whether all ranks are known to have staged the round that is to be reduced next; if not, they are polled.
/// Ranks that only meet have nothing to stage.
bool NvlsWorkgroup::staged() {
  if (seen_staged_ > reducing_ || setup_.step->net == NetOp::kMeet) return true;
  poll_->await(reducing_);
  return false;
}

void NvlsWorkgroup::poll_answered(std::uint32_t least) {
  seen_staged_ = least;
  advance();
}

std::uint32_t NvlsWorkgroup::least_flag() const {
  std::uint32_t least = ~std::uint32_t{0};
  for (const NvlsWorkgroup* other : others_) least = std::min(least, other->told_staged_);
  return least;
}

/// A switch has been answered that asked for this rank's flag on behalf of another rank.
void NvlsWorkgroup::replied(RankRegion&, std::uint32_t offset, sim::Bytes) {
  const std::uint32_t part = offset / static_cast<std::uint32_t>(rounds_.chunk());
  if (share_->is_flag(part)) others_[part - rounds_.parts()]->poll_->sampled(told_staged_);
}

/// Whether the ranks that reduce have announced more than `round` rounds.
bool NvlsWorkgroup::reduced(std::uint32_t round) const {
  if (setup_.step->who == NetWho::kRoot)
    return reduced_[static_cast<std::size_t>(context_.program.root)] > round;
  return std::ranges::all_of(reduced_, [&](std::uint32_t c) { return c > round; });
}

/// A slot is free when its last round has been taken out on this GPU, because then all ranks have reduced it,
/// too.
bool NvlsWorkgroup::scatter() {
  Copy& c = copies_[kScatter];
  if (c.busy || c.round == rounds_.count() || c.round >= copies_[kGather].round + setup_.slots) return false;
  if (share_->copies_in()) {
    copy_round(kScatter);
  } else {
    ++c.round;
    tell_staged();
  }
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
    tell_reduced();
    return true;
  }
  if (reducing_ == rounds_.count() || !pipeline_.idle() || !staged()) return false;
  const std::uint32_t part = first(reducing_++);
  if (rounds_.bytes(part) == 0) return true;
  const auto chunk = static_cast<std::uint32_t>(rounds_.chunk());
  gpu::UnitTask task = share_->task();  // for what it does; the range is this round's
  task.begin = part * chunk;
  task.end = (part + (root ? n : 1)) * chunk;
  pipeline_.start(task);
  return true;
}

bool NvlsWorkgroup::gather() {
  Copy& c = copies_[kGather];
  if (c.busy || c.round == rounds_.count() || !reduced(c.round)) return false;
  if (share_->copies_out()) {
    copy_round(kGather);
  } else {
    ++c.round;
  }
  return true;
}

/// Copies a round chunk by chunk.
void NvlsWorkgroup::copy_round(Role role) {
  Copy& c = copies_[role];
  const auto n = static_cast<std::uint32_t>(context_.program.ranks);
  const std::uint64_t output = context_.buffers.output(setup_.rank);
  c.pieces.clear();
  for (std::uint32_t part = c.round * n; part < (c.round + 1) * n; ++part) {
    const std::int64_t bytes = rounds_.bytes(part);
    if (bytes == 0) continue;
    const gpu::Place stage{output, static_cast<std::uint64_t>(share_->stage_of(part))};
    const gpu::Place user = role == kScatter
                                ? gpu::Place{context_.buffers.input(setup_.rank),
                                             static_cast<std::uint64_t>(share_->input_of(part))}
                                : gpu::Place{output, static_cast<std::uint64_t>(share_->output_of(part))};
    c.pieces.push_back({role == kScatter ? user : stage, role == kScatter ? stage : user,
                        static_cast<std::uint32_t>(bytes)});
  }
  c.busy = true;
  copiers_[role]->start(c.pieces);
}

void NvlsWorkgroup::copy_complete(std::uint32_t role) {
  Copy& c = copies_[role];
  c.busy = false;
  ++c.round;
  if (role == kScatter) fence(kScatterFenced);
  advance();
}

/// A spare warp fences before a flag may follow the data, while the others go on.
void NvlsWorkgroup::fence(Event then) {
  sim::EventQueue& events = context_.machine.events();
  events.schedule(events.now() + gpu_.spec().fence, sim::Priority::kWork, *this, then);
}

void NvlsWorkgroup::tell_staged() {
  ++told_staged_;
  for (NvlsWorkgroup* other : others_) other->poll_->flag_written();
}

void NvlsWorkgroup::tell_reduced() {
  ++told_reduced_;
  for (const NvlsWorkgroup* other : others_)
    gpu_.signal(other->reduced_flag(setup_.rank), other->gpu_.id(),
                net::Fabric::through(context_.network(), static_cast<std::uint32_t>(setup_.channel)));
}

void NvlsWorkgroup::task_issued() {
  advance();
}

void NvlsWorkgroup::task_complete() {
  fence(kReduceFenced);
  note_idle();
  if (trace_) note_trace();
}

void NvlsWorkgroup::handle(std::uint32_t event) {
  switch (static_cast<Event>(event % kEvents)) {
    case kReduced:
      ++reduced_[event / kEvents];
      break;
    case kScatterFenced:
      tell_staged();
      break;
    case kReduceFenced:
      tell_reduced();
      break;
  }
  advance();
}

void NvlsWorkgroup::copied(std::uint32_t role, std::size_t piece, std::uint32_t offset, std::uint32_t bytes) {
  const gpu::WarpCopier::Piece& p = copies_[role].pieces[piece];
  Values& v = *context_.values;
  const auto source = role == kScatter ? v.input(setup_.rank) : v.memory(setup_.rank);
  std::ranges::copy(
      source.subspan(static_cast<std::size_t>(p.from.offset) + offset, bytes),
      v.memory(setup_.rank).subspan(static_cast<std::size_t>(p.to.offset) + offset, bytes).begin());
}

std::string NvlsWorkgroup::why_waiting() const {
  if (done_ || !started_) return {};
  const auto where = [&](const char* what, std::uint32_t round) {
    return fmt::format("rank {} channel {} round {} of {}: {}", setup_.rank, setup_.channel, round + 1,
                       rounds_.count(), what);
  };
  if (!pipeline_.done()) return where(pipeline_.why_waiting().c_str(), reducing_ - 1);
  if (reduces_here() && reducing_ < rounds_.count()) {
    const auto late =
        std::ranges::find_if(others_, [&](const auto* o) { return o->told_staged_ <= reducing_; });
    return where(fmt::format("waits for rank {} to stage its data", late - others_.begin()).c_str(),
                 reducing_);
  }
  const std::uint32_t round = copies_[kGather].round;
  const auto late = std::ranges::find_if(reduced_, [&](std::uint32_t c) { return c <= round; });
  return where(fmt::format("waits for rank {} to reduce its chunk", late - reduced_.begin()).c_str(), round);
}

}  // namespace infold::coll
