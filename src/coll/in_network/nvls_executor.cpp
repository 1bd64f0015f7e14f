// Regions and workgroups of the channels, and the start and end of a rank's kernel.
#include "coll/in_network/nvls_executor.h"

#include "sim/check.h"

namespace infold::coll {

NvlsExecutor::NvlsExecutor(ExecutorContext context) : context_(std::move(context)) {
  const Program& program = context_.program;
  const NvlsTuning& t = program.tuning.nvls;
  inc::SwitchUnits* units = context_.machine.units();
  const sim::Bytes packet = sim::min(units->spec().payload, units->spec().sm_payload);
  const sim::Bytes block = packet * burst_of(context_, packet);
  const auto output = buffer_sizes(program.collective, program.bytes, program.ranks).output;
  sim::Bytes buffer = output;
  std::vector<sim::Bytes> buffers;
  for (int channel = 0; channel < program.channels; ++channel) {
    const Step& step = program.steps(0, channel).front();
    const Rounds& rounds = rounds_.emplace_back(step, program.ranks, block);
    inc::RegionPlan plan = region_plan(step, context_, packet);
    plan.number = channel;
    plan.part = sim::Bytes{rounds.chunk()};
    plan.bytes = plan.part * (rounds.parts() + static_cast<std::uint32_t>(program.ranks));  // and flags
    auto added = units->regions().add(std::move(plan));
    INFOLD_CHECK(added.has_value(), "the fabric serves the program (study::prepare)");
    regions_.push_back(*added);
    buffers.push_back(buffer);
    buffer += step.stage * (t.slots * program.ranks);
  }
  INFOLD_CHECK(buffer <= output + program.scratch, "the registered buffer has room for all channels");
  for (int rank = 0; rank < program.ranks; ++rank) {
    kernels_.emplace_back(*this, context_, rank);
    for (int channel = 0; channel < program.channels; ++channel) {
      const auto c = static_cast<std::size_t>(channel);
      workgroups_.emplace_back(NvlsWorkgroup::Setup{.rank = rank,
                                                    .channel = channel,
                                                    .step = &program.steps(rank, channel).front(),
                                                    .region = regions_[c],
                                                    .buffer = buffers[c],
                                                    .slots = static_cast<std::uint32_t>(t.slots)},
                               context_, rounds_[c], *this);
    }
  }
  for (NvlsWorkgroup& w : workgroups_) {
    std::vector<NvlsWorkgroup*> all;
    all.reserve(static_cast<std::size_t>(program.ranks));
    for (int rank = 0; rank < program.ranks; ++rank) all.push_back(&workgroups_[index_of(rank, w.channel())]);
    w.know(std::move(all));
  }
}

NvlsExecutor::~NvlsExecutor() {
  if (finished_ < context_.program.ranks) leave();
}

void NvlsExecutor::leave() {
  for (NvlsWorkgroup& w : workgroups_) w.leave();
  for (const inc::RegionId id : regions_) context_.machine.units()->regions().remove(id);
}

void NvlsExecutor::enqueue(int rank, sim::Time at) {
  kernels_[static_cast<std::size_t>(rank)].enqueue(32 * context_.program.tuning.nvls.warps(), at);
}

/// A workgroup has an SM; it begins to move data when it has set itself up.
void NvlsExecutor::workgroup_started(int rank, int channel) {
  sim::EventQueue& events = context_.machine.events();
  const sim::Time ready = context_.machine.spec().gpu.launch + context_.program.tuning.nvls.setup;
  events.schedule(events.now() + ready, sim::Priority::kWork, *this,
                  static_cast<std::uint32_t>(index_of(rank, channel)));
}

void NvlsExecutor::handle(std::uint32_t index) {
  workgroups_[index].start();
}

void NvlsExecutor::workgroup_done(NvlsWorkgroup& w) {
  WorkgroupKernel& kernel = kernels_[static_cast<std::size_t>(w.rank())];
  residency_.resident += kernel.held(w.channel());
  residency_.waiting += w.waited();
  kernel.workgroup_done(w.channel());
}

/// The switches forget the collective when all ranks are through.
void NvlsExecutor::kernel_finished(int rank) {
  if (++finished_ == context_.program.ranks) {
    leave();
    for (NvlsWorkgroup& w : workgroups_) w.release_flags();
  }
  context_.rank_finished(rank);
}

std::vector<std::string> NvlsExecutor::who_waits() const {
  return reasons_of(workgroups_, [](const NvlsWorkgroup& w) { return w.why_waiting(); });
}

}  // namespace infold::coll
