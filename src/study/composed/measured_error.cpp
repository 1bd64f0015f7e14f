// No step of `infold validate --ladder` was further off than this.
#include "study/composed/measured_error.h"

#include "train/strategy/sharding.h"

namespace infold::study::composed {

namespace {

constexpr double kReplicated = 0.05;  // one communicator, whatever carries it out
constexpr double kInNetwork = 0.05;   // switches reduce
constexpr double kSharded = 0.05;
constexpr double kDivided = 0.05;  // tensor-parallel ranks

}  // namespace

std::optional<double> measured_error(const StepJob& job) {
  const train::Layout& l = job.layout;
  if (l.pp > 1 || l.cp > 1 || l.ep > 1 || !job.delays.empty() || !job.overlap) return std::nullopt;
  const bool shards = train::sharding_of(job.sync.kind) == train::Sharding::kParameters;
  if (l.tp > 1) return shards ? std::nullopt : std::optional(kDivided);
  if (shards) return kSharded;
  if (job.sync.kind != train::SyncKind::kDdp) return std::nullopt;
  return in_network(job.method) ? kInNetwork : kReplicated;
}

}  // namespace infold::study::composed
