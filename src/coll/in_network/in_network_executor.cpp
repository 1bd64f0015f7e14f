// How engines go through the steps, and the regions that their steps need while they are under way.
#include "coll/in_network/in_network_executor.h"

#include <fmt/format.h>

#include "sim/check.h"

namespace infold::coll {

namespace {
gpu::SwitchClient::Setup engine_of(const ExecutorContext& context) {
  const gpu::CollectiveEngineSpec& spec = context.machine.spec().gpu.engine;
  return {.sender = static_cast<std::uint32_t>(context.stream), .window = spec.in_flight, .rate = spec.rate};
}
}  // namespace

InNetworkExecutor::InNetworkExecutor(ExecutorContext context) : context_(std::move(context)) {
  inc::SwitchUnits* units = context_.machine.units();
  for (const Step& step : context_.program.steps(0, 0)) {
    inc::RegionPlan plan = region_plan(step, context_, units->spec().payload);
    plan.number = static_cast<int>(regions_.size());
    auto added = units->regions().add(std::move(plan));
    INFOLD_CHECK(added.has_value(), "the fabric serves the program (study::prepare)");
    regions_.push_back(*added);
  }
  for (int rank = 0; rank < context_.program.ranks; ++rank) ranks_.emplace_back(*this, rank);
}

InNetworkExecutor::~InNetworkExecutor() {
  if (finished_ == context_.program.ranks) return;
  ranks_.clear();
  for (const inc::RegionId id : regions_) context_.machine.units()->regions().remove(id);
}

void InNetworkExecutor::enqueue(int rank, sim::Time at) {
  context_.enqueue_on_engine(rank, ranks_[static_cast<std::size_t>(rank)], at);
}

/// The switches forget the collective when all ranks are through.
void InNetworkExecutor::rank_finished(int rank) {
  if (++finished_ == context_.program.ranks) {
    for (Rank& r : ranks_) r.leave();
    for (const inc::RegionId id : regions_) context_.machine.units()->regions().remove(id);
  }
  context_.rank_finished(rank);
}

std::vector<std::string> InNetworkExecutor::who_waits() const {
  return reasons_of(ranks_, [](const Rank& r) { return r.why_waiting(); });
}

InNetworkExecutor::Rank::Rank(InNetworkExecutor& executor, int rank)
    : executor_(executor),
      rank_(rank),
      pipeline_(engine_of(executor.context_), executor.context_.machine.events(),
                executor.context_.gpu(rank).switch_port(), *this),
      waves_(steps().size()) {
  const inc::IncSpec& spec = executor.context_.machine.units()->spec();
  for (std::size_t i = 0; i < steps().size(); ++i) {
    const Step& step = steps()[i];
    const RankRegion& share =
        shares_.emplace_back(executor.context_, rank, step, executor.regions_[i], *this);
    if (step.net == NetOp::kMeet) continue;
    to_receive_ += share.to_receive();
    to_reply_ += share.to_reply();
    if (step.net == NetOp::kReduceWrite && step.who == NetWho::kAll && spec.wave > sim::Bytes{})
      waves_[i].emplace(step.bytes, spec.wave, spec.waves);
  }
  if (executor.context_.trace != nullptr) trace_ = std::make_unique<EngineTrace>(executor.context_, rank);
}

void InNetworkExecutor::Rank::begin(gpu::KernelId id, int) {
  kernel_ = id;
  sim::EventQueue& events = executor_.context_.machine.events();
  if (trace_) trace_->begins(events.now());
  events.schedule(events.now() + executor_.context_.machine.spec().gpu.engine.start, sim::Priority::kWork,
                  *this, 0);
}

void InNetworkExecutor::Rank::handle(std::uint32_t) {
  begun_ = true;
  if (trace_) trace_->expects(now(), to_receive_, to_reply_);
  begin_steps();
}

/// Goes on until a step has something to issue, or until ranks have to meet.
void InNetworkExecutor::Rank::begin_steps() {
  while (step_ < steps().size()) {
    gpu::UnitTask task = shares_[step_].task();
    meeting_ = steps()[step_].net == NetOp::kMeet;
    if (task.begin < task.end) {
      if (trace_) {
        trace_->begins_step(now(), steps()[step_]);
        if (waves_[step_]) trace_->begins_waves(now(), executor_.context_.machine.units()->spec().waves);
      }
      if (waves_[step_]) task.limit = static_cast<std::uint32_t>(waves_[step_]->may_send().count());
      pipeline_.start(task);
      return;
    }
    ++step_;
  }
  if (trace_) trace_->waits(now(), to_receive_ > sim::Bytes{});
  finish_if_done();
}

void InNetworkExecutor::Rank::task_issued() {
  if (meeting_) return;
  ++step_;
  begin_steps();
}

void InNetworkExecutor::Rank::replied(RankRegion&, std::uint32_t, sim::Bytes bytes) {
  to_reply_ -= bytes;
  if (trace_) trace_->replied(now(), bytes);
  finish_if_done();
}

void InNetworkExecutor::Rank::received(RankRegion& share, std::uint32_t offset, sim::Bytes bytes) {
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
    if (index == step_ && !pipeline_.idle())
      pipeline_.limit(static_cast<std::uint32_t>(waves_[index]->may_send().count()));
  }
  finish_if_done();
}

void InNetworkExecutor::Rank::finish_if_done() {
  if (to_receive_ > sim::Bytes{} || to_reply_ > sim::Bytes{}) return;  // most often
  if (done_ || !begun_ || step_ < steps().size() || !pipeline_.done()) return;
  done_ = true;
  if (trace_) trace_->ends(now());
  executor_.context_.gpu(rank_).core().dispatcher().engine_done(kernel_);
}

std::string InNetworkExecutor::Rank::why_waiting() const {
  if (done_) return {};
  if (!begun_) return fmt::format("rank {} has not begun", rank_);
  std::string what = pipeline_.why_waiting();
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
