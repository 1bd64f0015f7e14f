// What the tests of studies share: small systems, random ones, and unpacking of outcomes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "study/check.h"
#include "study/collective/collective_run.h"
#include "support/random_fabric.h"
#include "support/results.h"

namespace infold::study {

using namespace sim::literals;
using coll::Collective;

/// Eight GPUs on switch planes, a library with little to set up.
inline SystemSpec small_system(int gpus = 8, int planes = 2) {
  SystemSpec s;
  s.machine.gpus = gpus;
  s.machine.fabric.planes = planes;
  s.coll.channels = 4;
  return s;
}

/// The same, checked and drawn; it must be in order.
inline SystemPtr prepared(const SystemSpec& system) {
  auto made = PreparedSystem::make(system);
  if (!made) ADD_FAILURE() << made.error().parameter << ": " << made.error().message;
  return made.value();
}

inline CollectiveJob job_on(const SystemSpec& system, Collective collective, sim::Bytes bytes) {
  CollectiveJob job;
  job.system = prepared(system);
  job.algorithm = coll::find_algorithm("ring");
  job.collective = collective;
  job.bytes = bytes;
  job.gpus = system.machine.gpus;
  job.burst = {.automatic = false, .bytes = {}, .careful = false};
  return job;
}

/// The result of a job that must have one.
inline CollectiveResult result_of(const CollectiveJob& job) {
  const CollectiveOutcome outcome = run(job, {});
  if (outcome) return *outcome;
  ADD_FAILURE() << outcome.error().message;
  for (const auto& line : outcome.error().details) ADD_FAILURE() << line;
  return {};
}

/// Bytes that all ranks together must send.
inline std::uint64_t bytes_to_send(Collective collective, sim::Bytes bytes, int ranks) {
  const auto once = static_cast<std::uint64_t>(bytes.count()) * static_cast<std::uint64_t>(ranks - 1);
  return collective == Collective::kAllReduce ? 2 * once : once;
}

}  // namespace infold::study
