// One measurement: a collective of one size with one algorithm on one system, and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coll/algo/algorithms.h"
#include "coll/dtype.h"
#include "coll/program/fit.h"
#include "coll/program/values.h"
#include "sim/result.h"
#include "sim/trace.h"
#include "sim/units.h"
#include "study/collective/burst_choice.h"
#include "study/link_use.h"
#include "study/prepared_system.h"

namespace infold::study {

/// A part of the machine that fails while the collective runs.
struct Fault {
  enum class What : std::uint8_t {
    kPlane,  ///< a switch with all links to it
    kLink,   ///< one link to a switch; no GPU then uses its link to that switch, because addresses pick the
             ///< same links for all
  };
  What what = What::kPlane;
  int plane = 0;
  sim::Time at;  ///< the time since the start
  const coll::Algorithm* fallback =
      nullptr;          ///< the algorithm that finishes the collective; null means the same again
  SystemPtr left = {};  ///< the system without what fails (without()); if null, prepare() makes it
};

struct CollectiveJob {
  SystemPtr system;
  const coll::Algorithm* algorithm = nullptr;  ///< null if there is a program
  const coll::OwnProgram* program = nullptr;   ///< a user's; it fits the fields below
  coll::Protocol protocol = coll::Protocol::kSimple;
  coll::Engine engine = coll::Engine::kSm;
  coll::Collective collective = coll::Collective::kAllReduce;
  sim::Bytes bytes;  ///< a multiple of the element size, and for scatter and gather of that times the number
                     ///< of ranks
  coll::DataType type = coll::DataType::kFp32;
  coll::ReduceOp op = coll::ReduceOp::kSum;
  int root = 0;                   ///< the root rank of a broadcast or of a reduction to one rank
  int gpus = 0;                   ///< the number of GPUs; the first ones of the system are used
  std::vector<int> members = {};  ///< or these GPUs, as many as `gpus`, in one group
  int iterations = 1;             ///< how many run back to back
  int groups = 1;            ///< communicators of equal size, each of consecutive GPUs, all at the same time
  int concurrent = 1;        ///< how many run at once on the same GPUs, each on SMs of its own
  bool check = false;        ///< carries values and compares every rank's result
  bool real_inputs = false;  ///< with check: takes inputs whose results depend on the order, within rounding
  BurstChoice burst;
  std::optional<coll::ExpertTuning> experts = {};  ///< of dispatch and combine; none: those of the system
  bool even_shares =
      false;  ///< in a ring, every rank's share of a window is equal, whatever the library's grain is
  /// How late each rank reaches each iteration. If empty, none is late. Time::never() means that the rank
  /// does not come at all.
  std::vector<sim::Time> delays = {};
  std::optional<sim::TraceSpec> trace = {};  ///< nothing is recorded if there is none
  std::optional<Fault> fault = {};           ///< requires: one iteration, an algorithm
};

/// Random delays, uniform between nothing and `most`.
std::vector<sim::Time> skewed(int gpus, sim::Time most, std::uint64_t seed);

/// What the reduction units of the switches counted over all iterations.
struct InNetworkCounters {
  std::uint64_t table_peak_entries = 0;  ///< the peak of the port that had most
  std::uint64_t stalls = 0;
  std::uint64_t evictions = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t finished_at_gpus = 0;  ///< partial sums that GPUs had to add up
  double port_gates = 0;               ///< gate equivalents of the unit of one port (inc/unit_area.h)
  sim::Bytes port_sram;                ///< its memory
  sim::Time packet_latency;  ///< push: the mean time from sending a contribution to the arrival of its sum
};

struct FaultReport {
  bool hit = false;       ///< whether the fault happened before the collective was over
  sim::Time undisturbed;  ///< how long it takes without the fault
  sim::Time lost;
  const coll::Algorithm* finished_by = nullptr;
};

struct CollectiveResult {
  sim::Time time;           ///< the time of one iteration
  bool host_bound = false;  ///< the time is that in which the host enqueues the collective
  double algbw_gbps = 0;
  double busbw_gbps = 0;
  double bound_gbps = 0;                 ///< what busbw cannot exceed: the payload that a GPU's links carry
  std::optional<std::uint64_t> wrong;    ///< wrong elements, with check
  std::uint64_t link_bytes_per_gpu = 0;  ///< data that left a GPU by its links, mean, per iteration
  std::uint64_t wire_bytes_per_gpu = 0;  ///< the same with headers, acknowledgements and flags
  std::uint64_t l2_bytes_per_gpu = 0;    ///< read and written at L2: what the algorithm moves
  std::uint64_t hbm_bytes_per_gpu = 0;   ///< read and written at memory: what L2 could not keep
  int sms = 0;                           ///< SMs held on each GPU while it runs
  sim::Time sm_time;                     ///< time for which its workgroups held SMs of a GPU, per iteration
  sim::Time resident;                    ///< mean time of a workgroup on its SM, per iteration
  sim::Time moving;  ///< the part of it without waiting for data, room or acknowledgements
  sim::Bytes burst;  ///< the burst that was used; 0 means packet by packet
  coll::Engine engine = coll::Engine::kSm;  ///< the engine that carried it out
  std::optional<InNetworkCounters> in_network;
  std::optional<coll::Values::Error> error;  ///< the error of sums, with check and real inputs
  std::uint64_t replays = 0;                 ///< packets that were sent again because of bit errors
  std::optional<FaultReport> fault;  ///< if there is one, the counters are those of the run that got through
  std::vector<sim::Time> ends;       ///< the end of each, if several ran at once, in order; empty for one
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  FabricUse links;                          ///< over all iterations
  std::optional<sim::TraceRecorder> trace;  ///< if the job asks for one

  /// Sets the time of an iteration, and the rates that follow from it.
  void take_time(const CollectiveJob& job, sim::Time t);
};

using CollectiveOutcome = sim::Result<CollectiveResult>;

/// Called now and then with the share that is done; returning false asks to stop.
using KeepGoing = std::function<bool(double share)>;

/// A job made ready: its communicators, the program of each, and how packets travel. A PreparedJob exists
/// only if the job can be run as asked.
class PreparedJob {
 public:
  const CollectiveJob& job() const { return job_; }
  /// The GPUs of each communicator.
  const std::vector<std::vector<int>>& groups() const { return groups_; }
  const std::vector<coll::Program>& programs() const { return programs_; }
  /// The program of the first communicator.
  const coll::Program& program() const { return programs_.front(); }
  sim::Bytes burst() const { return burst_; }
  /// With a fault: the same job as it begins again on the system without what fails.
  const PreparedJob& again() const { return *again_; }
  /// A trace may be asked for later than the rest.
  void set_trace(std::optional<sim::TraceSpec> trace) { job_.trace = trace; }

 private:
  friend sim::Result<PreparedJob> prepare(const CollectiveJob& job, const sim::GoOn& go_on);
  PreparedJob() = default;
  CollectiveJob job_;
  std::vector<std::vector<int>> groups_;
  std::vector<coll::Program> programs_;
  sim::Bytes burst_;
  std::shared_ptr<const PreparedJob> again_;
};

/// The only way to a prepared job. Fails if the job cannot be run as asked, or when `go_on` says no. What the
/// job points to must outlive it.
sim::Result<PreparedJob> prepare(const CollectiveJob& job, const sim::GoOn& go_on = {});

/// Checks a job before its program is there, which may take long to write.
sim::Status check_request(const CollectiveJob& job);

CollectiveOutcome run(const PreparedJob& prepared, const KeepGoing& keep_going);
/// Runs the job as if nothing failed.
CollectiveOutcome run_undisturbed(const PreparedJob& prepared, const KeepGoing& keep_going);
/// Prepares the job and runs it.
CollectiveOutcome run(const CollectiveJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
