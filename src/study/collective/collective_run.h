// One measurement: a collective of one size with one algorithm on one system, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coll/algo/algorithms.h"
#include "coll/dtype.h"
#include "coll/program/values.h"
#include "sim/result.h"
#include "sim/trace.h"
#include "sim/units.h"
#include "study/collective/burst_choice.h"
#include "study/link_use.h"
#include "study/prepared_system.h"

namespace infold::study {

/// Something fails while the collective runs.
struct Fault {
  enum class What : std::uint8_t {
    kPlane,  ///< a switch, with all links to it
    kLink,   ///< a link to it, which no GPU uses any more: addresses pick the same ways for all
  };
  What what = What::kPlane;
  int plane = 0;
  sim::Time at;                               ///< from the start
  const coll::Algorithm* fallback = nullptr;  ///< that finishes it; null: the same again
  SystemPtr left = {};  ///< the system without what fails (without()); null: prepare() makes it
};

struct CollectiveJob {
  SystemPtr system;
  const coll::Algorithm* algorithm = nullptr;  ///< null with a program
  const coll::Program* program = nullptr;  ///< written by hand, passed coll::find_flaw; fits the fields below
  coll::Protocol protocol = coll::Protocol::kSimple;
  coll::Engine engine = coll::Engine::kSm;
  coll::Collective collective = coll::Collective::kAllReduce;
  sim::Bytes bytes;  ///< a multiple of the element size, and for scatter and gather of that times the ranks
  coll::DataType type = coll::DataType::kFp32;
  coll::ReduceOp op = coll::ReduceOp::kSum;
  int root = 0;              ///< rank, of a broadcast or a reduction to one
  int gpus = 0;              ///< the first so many of the system's
  int iterations = 1;        ///< back to back
  int groups = 1;            ///< communicators of equal size, each of consecutive GPUs, all at the same time
  int concurrent = 1;        ///< so many at once on the same GPUs, each on SMs of its own
  bool check = false;        ///< carry values and compare every rank's result
  bool real_inputs = false;  ///< with check: inputs whose results depend on the order, within rounding
  BurstChoice burst;
  bool even_shares = false;  ///< each rank's of a ring's windows, whatever the library's grain is
  /// By which each rank reaches each iteration late; empty: none. Time::never(): it does not come at all.
  std::vector<sim::Time> delays = {};
  std::optional<sim::TraceSpec> trace = {};  ///< none: nothing is recorded
  std::optional<Fault> fault = {};           ///< requires: one iteration, an algorithm
};

/// Delays that are uniform between nothing and `most`.
std::vector<sim::Time> skewed(int gpus, sim::Time most, std::uint64_t seed);

/// What the reduction units of the switches counted, all iterations together.
struct InNetworkCounters {
  std::uint64_t table_peak_entries = 0;  ///< of the port that had most
  std::uint64_t stalls = 0;
  std::uint64_t evictions = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t finished_at_gpus = 0;  ///< partial sums that GPUs had to add up
  sim::Time packet_latency;            ///< push: from a contribution's being sent to its sum's arrival, mean
};

struct FaultReport {
  bool hit = false;       ///< it was not over yet
  sim::Time undisturbed;  ///< how long it takes otherwise
  sim::Time lost;
  const coll::Algorithm* finished_by = nullptr;
};

struct CollectiveResult {
  sim::Time time;           ///< of one iteration
  bool host_bound = false;  ///< it is as long as the host needs to enqueue the collective
  double algbw_gbps = 0;
  double busbw_gbps = 0;
  double bound_gbps = 0;                 ///< what busbw can not exceed: the payload that a GPU's links carry
  std::optional<std::uint64_t> wrong;    ///< elements, with check
  std::uint64_t link_bytes_per_gpu = 0;  ///< data that left a GPU by its links, mean, per iteration
  std::uint64_t wire_bytes_per_gpu = 0;  ///< the same with headers, acknowledgements and flags
  std::uint64_t l2_bytes_per_gpu = 0;    ///< read and written at L2: what the algorithm moves
  std::uint64_t hbm_bytes_per_gpu = 0;   ///< read and written at memory: what L2 could not keep
  int sms = 0;                           ///< held on each GPU while it runs
  sim::Time sm_time;                     ///< that its workgroups had of a GPU's SMs, per iteration
  sim::Time resident;                    ///< of a workgroup on its SM, mean, per iteration
  sim::Time moving;                      ///< of that, not waiting for data, room or acknowledgements
  sim::Bytes burst;                      ///< that was used; 0: packet by packet
  coll::Engine engine = coll::Engine::kSm;  ///< that carried it out
  std::optional<InNetworkCounters> in_network;
  std::optional<coll::Values::Error> error;  ///< of sums, with check and real inputs
  std::uint64_t replays = 0;                 ///< of packets, because of bit errors
  std::optional<FaultReport> fault;          ///< the counters are then those of the run that got through
  std::vector<sim::Time> ends;               ///< of each of several at once, in order; empty for one
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  FabricUse links;                          ///< over all iterations
  std::optional<sim::TraceRecorder> trace;  ///< where the job asks for one

  /// Sets the time of an iteration, and the rates that follow from it.
  void take_time(const CollectiveJob& job, sim::Time t);
};

using CollectiveOutcome = sim::Result<CollectiveResult>;

/// Called now and then with the share that is done; false asks to stop.
using KeepGoing = std::function<bool(double share)>;

/// A job made ready: its communicators, the program of each, and how packets travel. To have one is to know
/// that it can be run as asked.
class PreparedJob {
 public:
  const CollectiveJob& job() const { return job_; }
  /// The GPUs of each communicator.
  const std::vector<std::vector<int>>& groups() const { return groups_; }
  const std::vector<coll::Program>& programs() const { return programs_; }
  /// Of the first communicator.
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

/// The only way to a prepared job; fails where the job cannot be run as asked, and where `go_on` says no.
/// What the job points to must outlive it.
sim::Result<PreparedJob> prepare(const CollectiveJob& job, const sim::GoOn& go_on = {});

/// What can be said against a job before its program is there, which may take long to write.
sim::Status check_request(const CollectiveJob& job);

CollectiveOutcome run(const PreparedJob& prepared, const KeepGoing& keep_going);
/// The same as if nothing failed.
CollectiveOutcome run_undisturbed(const PreparedJob& prepared, const KeepGoing& keep_going);
/// Prepares the job and runs it.
CollectiveOutcome run(const CollectiveJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
