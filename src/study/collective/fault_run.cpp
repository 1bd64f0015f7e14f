// The collective undisturbed, to know what the failure costs; then what is done about it.
#include "study/collective/fault_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "study/collective/choice.h"

namespace infold::study {

namespace {

/// The job as it begins again `later`, on the system that is left.
CollectiveJob second_try(const CollectiveJob& job, SystemPtr left, sim::Time later) {
  CollectiveJob again = job;
  again.fault.reset();
  again.system = std::move(left);
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

sim::Result<SystemPtr> without(const SystemSpec& system, const Fault& fault) {
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
  auto prepared = PreparedSystem::make(std::move(left));
  if (!prepared) return sim::fail(fmt::format("--fail: {}", prepared.error().message));
  return prepared;
}

sim::Result<SystemPtr> left_for_second_try(const CollectiveJob& job) {
  auto left = without(*job.system, *job.fault);
  if (!left) return left;
  if (auto why = refuse(second_try(job, *left, {}))) return sim::fail(std::move(*why));
  return left;
}

CollectiveOutcome run_with_fault(const PreparedJob& prepared, const KeepGoing& keep_going) {
  const CollectiveJob& job = prepared.job();
  const Fault& fault = *job.fault;
  const FaultSpec& spec = job.system->fault;
  const sim::Time later = fault.at + spec.notice + spec.reroute;
  CollectiveJob again = second_try(job, prepared.left(), later);
  if (fault.fallback != nullptr)
    again.protocol = choose(again, offers_of(again, again.algorithm, std::nullopt)).protocol;

  CollectiveJob alone = job;
  alone.fault.reset();
  auto outcome = run(alone, part_of_two(keep_going, 0));
  if (!outcome) return outcome;
  FaultReport report{.undisturbed = outcome->time, .lost = {}, .finished_by = job.algorithm};
  if (outcome->time <= fault.at) {
    outcome->fault = report;
    return outcome;
  }
  outcome = run(again, part_of_two(keep_going, 0.5));
  if (!outcome) return outcome;
  report.hit = true;
  report.lost = later + outcome->time - report.undisturbed;
  report.finished_by = again.algorithm;
  outcome->fault = report;
  outcome->take_time(job, later + outcome->time);
  return outcome;
}

}  // namespace infold::study
