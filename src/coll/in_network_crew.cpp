// The walk of the engines, and the regions that their steps need while they are under way.
#include "coll/in_network_crew.h"

#include <fmt/format.h>

#include "sim/check.h"

namespace infold::coll {

namespace {
gpu::UnitMover::Setup engine_of(const CrewContext& context) {
  const gpu::CollectiveEngineSpec& spec = context.machine.spec().gpu.engine;
  return {.sender = static_cast<std::uint32_t>(context.stream), .window = spec.in_flight, .rate = spec.rate};
}
}  // namespace

InNetworkCrew::InNetworkCrew(CrewContext context) : context_(std::move(context)) {
  inc::SwitchUnits* units = context_.machine.units();
  for (const Step& step : context_.program.steps(0, 0)) {
    auto added = units->regions().add(region_plan(step, context_, units->spec().payload));
    const auto* refusal = std::get_if<sim::Refusal>(&added);
    INFOLD_CHECK(refusal == nullptr, "the fabric serves the program (study::refuse)");
    regions_.push_back(std::get<inc::RegionId>(added));
  }
  for (int rank = 0; rank < context_.program.ranks; ++rank) ranks_.emplace_back(*this, rank);
}

InNetworkCrew::~InNetworkCrew() {
  if (finished_ == context_.program.ranks) return;
  ranks_.clear();
  for (const inc::RegionId id : regions_) context_.machine.units()->regions().remove(id);
}

void InNetworkCrew::enqueue(int rank, sim::Time at) {
  context_.enqueue_on_engine(rank, ranks_[static_cast<std::size_t>(rank)], at);
}

/// The switches forget about the collective when all are through.
void InNetworkCrew::rank_finished(int rank) {
  if (++finished_ == context_.program.ranks) {
    for (Rank& r : ranks_) r.leave();
    for (const inc::RegionId id : regions_) context_.machine.units()->regions().remove(id);
  }
  context_.rank_finished(rank);
}

std::vector<std::string> InNetworkCrew::who_waits() const {
  std::vector<std::string> lines;
  for (const Rank& r : ranks_) {
    if (auto why = r.why_waiting(); !why.empty()) lines.push_back(std::move(why));
  }
  return lines;
}

InNetworkCrew::Rank::Rank(InNetworkCrew& crew, int rank)
    : crew_(crew),
      rank_(rank),
      mover_(engine_of(crew.context_), crew.context_.machine.events(), crew.context_.gpu(rank).unit_port(),
             *this),
      waves_(steps().size()) {
  const inc::IncSpec& spec = crew.context_.machine.units()->spec();
  for (std::size_t i = 0; i < steps().size(); ++i) {
    const Step& step = steps()[i];
    const RegionShare& share = shares_.emplace_back(crew.context_, rank, step, crew.regions_[i], *this);
    if (step.net == NetOp::kMeet) continue;
    to_receive_ += share.to_receive();
    to_reply_ += share.to_reply();
    if (step.net == NetOp::kReduceWrite && step.who == NetWho::kAll && spec.wave > sim::Bytes{})
      waves_[i].emplace(step.bytes, spec.wave, spec.waves);
  }
  if (crew.context_.trace != nullptr) trace_ = std::make_unique<EngineTrace>(crew.context_, rank);
}

void InNetworkCrew::Rank::begin(gpu::KernelId id, int) {
  kernel_ = id;
  sim::EventQueue& events = crew_.context_.machine.events();
  if (trace_) trace_->begins(events.now());
  events.schedule(events.now() + crew_.context_.machine.spec().gpu.engine.start, sim::Priority::kWork, *this,
                  0);
}

void InNetworkCrew::Rank::handle(std::uint32_t) {
  begun_ = true;
  if (trace_) trace_->expects(now(), to_receive_, to_reply_);
  begin_steps();
}

/// Goes on until a step has something to be issued, or ranks are to meet.
void InNetworkCrew::Rank::begin_steps() {
  while (step_ < steps().size()) {
    gpu::UnitTask task = shares_[step_].task();
    meeting_ = steps()[step_].net == NetOp::kMeet;
    if (task.begin < task.end) {
      if (trace_) {
        trace_->begins_step(now(), steps()[step_]);
        if (waves_[step_]) trace_->begins_waves(now(), crew_.context_.machine.units()->spec().waves);
      }
      if (waves_[step_]) task.limit = static_cast<std::uint32_t>(waves_[step_]->may_send().count());
      mover_.start(task);
      return;
    }
    ++step_;
  }
  if (trace_) trace_->waits(now(), to_receive_ > sim::Bytes{});
  finish_if_done();
}

void InNetworkCrew::Rank::task_issued() {
  if (meeting_) return;
  ++step_;
  begin_steps();
}

void InNetworkCrew::Rank::replied(RegionShare&, std::uint32_t, sim::Bytes bytes) {
  to_reply_ -= bytes;
  if (trace_) trace_->replied(now(), bytes);
  finish_if_done();
}

void InNetworkCrew::Rank::received(RegionShare& share, std::uint32_t offset, sim::Bytes bytes) {
  if (share.step().net == NetOp::kMeet) {
    ++step_;
    meeting_ = false;
    return begin_steps();
  }
  to_receive_ -= bytes;
  if (trace_) trace_->received(now(), bytes);
  const auto index = static_cast<std::size_t>(&share.step() - steps().data());
  if (waves_[index]) {
    waves_[index]->result(offset, bytes);
    if (trace_) trace_->waves(now(), *waves_[index]);
    if (index == step_ && !mover_.idle())
      mover_.limit(static_cast<std::uint32_t>(waves_[index]->may_send().count()));
  }
  finish_if_done();
}

void InNetworkCrew::Rank::finish_if_done() {
  if (done_ || !begun_ || step_ < steps().size() || !mover_.done()) return;
  if (to_receive_ > sim::Bytes{} || to_reply_ > sim::Bytes{}) return;
  done_ = true;
  if (trace_) trace_->ends(now());
  crew_.context_.gpu(rank_).core().dispatcher().engine_done(kernel_);
}

std::string InNetworkCrew::Rank::why_waiting() const {
  if (done_) return {};
  if (!begun_) return fmt::format("rank {} has not begun", rank_);
  std::string what = mover_.why_waiting();
  if (what.empty() && to_receive_ > sim::Bytes{})
    what = fmt::format("waits for {} bytes of results", to_receive_.count());
  if (what.empty()) what = fmt::format("waits for others to ask for {} bytes", to_reply_.count());
  if (meeting_) what = "waits for the others to come";
  const std::size_t last = steps().size();
  return step_ < last ? fmt::format("rank {} step {} of {} ({}): {}", rank_, step_ + 1, last,
                                    name_of(steps()[step_]), what)
                      : fmt::format("rank {} after its last step: {}", rank_, what);
}

}  // namespace infold::coll
