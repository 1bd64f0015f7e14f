// A collective during which a switch plane or a link fails. What was under way on it is lost with the sums
// that its switch held, so the ranks give the collective up, spread addresses over what is left of the
// fabric, and begin again from their inputs: with the same algorithm, or with the one that was named to fall
// back to.
#pragma once

#include "study/collective/collective_run.h"

namespace infold::study {

/// The system without what fails, or the reason why it cannot do without. Fails also when `go_on` says no.
sim::Result<SystemPtr> without(const SystemSpec& system, const Fault& fault, const sim::GoOn& go_on = {});

/// Prepares the job as it begins again after its fault. Requires: job.fault.
sim::Result<PreparedJob> prepare_second_try(const CollectiveJob& job, const sim::GoOn& go_on);

/// Requires: its job has a fault.
CollectiveOutcome run_with_fault(const PreparedJob& prepared, const KeepGoing& keep_going);

}  // namespace infold::study
