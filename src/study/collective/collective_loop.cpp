// Iterations of a collective.
#include "study/collective/collective_loop.h"

#include <fmt/format.h>

#include <utility>

namespace infold::study {

CollectiveLoop::CollectiveLoop(const CollectiveJob& job, gpu::Machine& machine, const coll::Program& program,
                               std::vector<int> gpus, std::uint64_t seed, sim::TraceRecorder* trace)
    : job_(job),
      machine_(machine),
      program_(program),
      gpus_(std::move(gpus)),
      buffers_(machine, gpus_, coll::buffers_for(program)),
      stream_(seed - 1),
      trace_(trace),
      started_(gpus_.size()) {
  if (job.check) {
    const coll::Values::Kind kind{.type = job.type,
                                  .op = job.op,
                                  .real = job.real_inputs,
                                  .root = program.root,
                                  .scratch = program.scratch,
                                  .experts = program.tuning.experts};
    values_ = std::make_unique<coll::Values>(program.collective, program.bytes, program.ranks, kind, seed);
  }
  for (int rank = 0; rank < program.ranks; ++rank) enqueue(0, rank, sim::Time{});
}

void CollectiveLoop::enqueue(int iteration, int rank, sim::Time at) {
  const auto index = static_cast<std::size_t>(iteration);
  if (executions_.size() == index) {
    coll::Execution::Options options{
        .values = values_.get(), .trace = trace_, .rank_done = {}, .buffers = &buffers_, .stream = stream_};
    options.rank_done = [this, iteration](int r, sim::Time t) { rank_done(iteration, r, t); };
    executions_.push_back(std::make_unique<coll::Execution>(machine_, program_, gpus_, std::move(options)));
  }
  const auto gpu = static_cast<std::size_t>(gpus_[static_cast<std::size_t>(rank)]);
  if (!job_.delays.empty() && job_.delays[gpu] == sim::Time::never()) return;
  const sim::Time begins = job_.delays.empty() ? at : at + job_.delays[gpu];
  started_[static_cast<std::size_t>(rank)] = begins;
  executions_[index]->enqueue(rank, begins);
}

void CollectiveLoop::record(int iteration, int rank, sim::Time at) {
  const auto gpu = static_cast<net::NodeId>(gpus_[static_cast<std::size_t>(rank)]);
  const auto group = trace_->group(machine_.network().name(gpu));
  const auto track = trace_->track(
      group, stream_ == 0 ? "communication stream" : fmt::format("communication stream {}", stream_ + 1));
  const auto name =
      trace_->name(fmt::format("{} of {} B{}", sim::name_of(program_.collective), program_.bytes.count(),
                               job_.iterations > 1 ? fmt::format(", iteration {}", iteration + 1) : ""));
  trace_->span(track, name, started_[static_cast<std::size_t>(rank)], at);
}

/// All ranks run the same number of iterations, so the first rank to ask settles whether there is a next one.
void CollectiveLoop::rank_done(int iteration, int rank, sim::Time at) {
  const auto index = static_cast<std::size_t>(iteration);
  if (executions_[index]->done()) ends_.push_back(at);
  if (trace_ != nullptr) record(iteration, rank, at);
  const bool exists = executions_.size() > index + 1;
  if (!exists && (stopped_ || iteration + 1 == job_.iterations)) return;
  // The host may still be busy enqueueing the next one.
  enqueue(iteration + 1, rank, sim::max(at, job_.system->machine.gpu.host_enqueue * (iteration + 1)));
}

coll::Residency CollectiveLoop::residency() const {
  coll::Residency sum;
  for (const auto& e : executions_) sum += e->residency();
  return sum;
}

std::vector<std::string> CollectiveLoop::who_waits() const {
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < gpus_.size() && !job_.delays.empty(); ++rank) {
    if (job_.delays[static_cast<std::size_t>(gpus_[rank])] == sim::Time::never())
      lines.push_back(fmt::format("rank {} never came to the collective", rank));
  }
  for (const auto& e : executions_) {
    for (auto& line : e->who_waits()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace infold::study
