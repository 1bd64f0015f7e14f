// Runs the collective undisturbed, to know what the failure costs, and then what is done about the failure.
#include "study/collective/fault_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "study/collective/choice.h"

namespace infold::study {

namespace {

/// The time from the start to when the collective begins again.
sim::Time begins_again(const CollectiveJob& job) {
  const FaultSpec& spec = job.system->fault;
  return job.fault->at + spec.notice + spec.reroute;
}

/// The job as it begins again on the system that is left.
CollectiveJob second_try(const CollectiveJob& job, SystemPtr left) {
  CollectiveJob again = job;
  again.fault.reset();
  again.system = std::move(left);
  const sim::Time later = begins_again(job);
  for (sim::Time& delay : again.delays) delay = delay > later ? delay - later : sim::Time{};
  if (job.fault->fallback != nullptr) {
    again.algorithm = job.fault->fallback;
    again.protocol = coll::Protocol::kSimple;
    again.engine = coll::Engine::kSm;
  }
  return again;
}

KeepGoing part_of_two(const KeepGoing& keep_going, double done) {
  if (!keep_going) return {};
  return [&keep_going, done](double share) { return keep_going(done + share / 2); };
}

}  // namespace

sim::Result<SystemPtr> without(const SystemSpec& system, const Fault& fault, const sim::GoOn& go_on) {
  SystemSpec left = system;
  net::FabricSpec& fabric = left.machine.fabric;
  const auto plane = static_cast<std::size_t>(fault.plane);
  if (fabric.topology != net::Topology::kSwitchPlanes)
    return sim::fail(
        fmt::format("--fail: the fabric of {} has no switch planes, so none can fail", system.name));
  if (fault.plane >= fabric.planes)
    return sim::fail(fmt::format("--fail: there is no plane {}, they are 0 to {}", plane, fabric.planes - 1));
  if (std::ranges::find(fabric.failed_planes, fault.plane) != fabric.failed_planes.end())
    return sim::fail(fmt::format("--fail: plane {} is out of order already", plane));
  std::vector<int>& links = fabric.links_per_plane;
  if (links.size() == 1) links.assign(static_cast<std::size_t>(fabric.planes), links.front());
  if (fault.what == Fault::What::kLink && links[plane] > 1) {
    --links[plane];
  } else {
    fabric.failed_planes.push_back(fault.plane);
  }
  auto prepared = PreparedSystem::make(std::move(left), go_on);
  if (!prepared && prepared.error().kind == sim::Error::Kind::kInterrupted) return prepared;
  if (!prepared) return sim::fail(fmt::format("--fail: {}", prepared.error().message));
  return prepared;
}

sim::Result<PreparedJob> prepare_second_try(const CollectiveJob& job, const sim::GoOn& go_on) {
  auto left =
      job.fault->left ? sim::Result<SystemPtr>(job.fault->left) : without(*job.system, *job.fault, go_on);
  if (!left) return sim::fail_as(std::move(left));
  CollectiveJob again = second_try(job, *std::move(left));
  if (job.fault->fallback != nullptr) {
    if (auto ok = check_request(again); !ok) return sim::fail_as(std::move(ok));
    again.protocol = choose(again, offers_of(again, again.algorithm, std::nullopt), go_on).protocol;
  }
  return prepare(again, go_on);
}

CollectiveOutcome run_with_fault(const PreparedJob& prepared, const KeepGoing& keep_going) {
  const CollectiveJob& job = prepared.job();
  const sim::Time later = begins_again(job);
  auto outcome = run_undisturbed(prepared, part_of_two(keep_going, 0));
  if (!outcome) return outcome;
  FaultReport report{.undisturbed = outcome->time, .lost = {}, .finished_by = job.algorithm};
  if (outcome->time <= job.fault->at) {
    outcome->fault = report;
    return outcome;
  }
  outcome = run_undisturbed(prepared.again(), part_of_two(keep_going, 0.5));
  if (!outcome) return outcome;
  report.hit = true;
  report.lost = later + outcome->time - report.undisturbed;
  report.finished_by = prepared.again().job().algorithm;
  outcome->fault = report;
  outcome->take_time(job, later + outcome->time);
  return outcome;
}

}  // namespace infold::study
