// Builds the machine, compiles the program, runs it to the end and reads the counters.
#include "study/collective_run.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "coll/execution.h"
#include "gpu/machine.h"
#include "sim/check.h"

namespace infold::study {

namespace {

using namespace sim::literals;

constexpr sim::Bytes kAutoBurst = 4_KiB;
/// Up to this many packets over links, packet by packet costs about a second.
constexpr std::int64_t kCheapPacketHops = 4'000'000;
/// Simulator memory that the values of a checked run may take.
constexpr std::int64_t kValuesLimit = std::int64_t{8} << 30;
/// Events between two looks at the clock and at the user.
constexpr std::uint64_t kBatch = 1 << 18;

sim::Bytes bytes_sent(const coll::Program& program) {
  sim::Bytes sum;
  for (const auto& list : program.lists) {
    for (const coll::Step& s : list) {
      sum += s.bytes * s.to.size();
    }
  }
  return sum;
}

sim::Bytes choose_burst(const CollectiveJob& job, const coll::Program& program, int hops) {
  if (!job.burst.automatic) return job.burst.bytes;
  const std::int64_t packets =
      bytes_sent(program).count() / job.system->machine.fabric.packet.payload.count();
  const std::int64_t acknowledged = 2;
  return packets * job.iterations * hops * acknowledged > kCheapPacketHops ? kAutoBurst : sim::Bytes{};
}

/// A job on its machine: as many executions as iterations, each rank starting one when it ended the last.
class Bench {
 public:
  Bench(const CollectiveJob& job, gpu::Machine& machine, const coll::Program& program, std::vector<int> gpus)
      : job_(job), machine_(machine), program_(program), gpus_(std::move(gpus)) {
    if (job.check) {
      const coll::Values::Kind kind{.type = job.type,
                                    .op = job.op,
                                    .real = job.real_inputs,
                                    .root = job.root,
                                    .scratch = program.scratch};
      values_ = std::make_unique<coll::Values>(job.collective, job.bytes, job.gpus, kind, /*seed=*/1);
    }
    for (int rank = 0; rank < job.gpus; ++rank) enqueue(0, rank, sim::Time{});
  }

  /// False when it was asked to stop.
  bool run(const KeepGoing& keep_going) {
    const double total = static_cast<double>(bytes_sent(program_).count()) * job_.iterations + 1;
    while (machine_.events().run(kBatch)) {
      if (keep_going && !keep_going(static_cast<double>(data_sent()) / total)) return false;
    }
    return true;
  }

  bool done() const { return finished_ranks_ == job_.gpus; }
  sim::Time end() const { return end_; }
  std::uint64_t wrong() const { return values_->wrong(); }
  bool checked() const { return values_ != nullptr; }
  std::uint64_t data_sent() const {
    std::uint64_t sum = 0;
    for (int g = 0; g < machine_.gpus(); ++g)
      sum += machine_.network().payload_sent(static_cast<net::NodeId>(g));
    return sum;
  }
  std::vector<std::string> who_waits() const {
    std::vector<std::string> lines;
    for (const auto& e : executions_) {
      for (auto& line : e->who_waits()) lines.push_back(std::move(line));
    }
    for (auto& line : machine_.network().who_waits()) lines.push_back(std::move(line));
    return lines;
  }

 private:
  void enqueue(int iteration, int rank, sim::Time at) {
    const auto index = static_cast<std::size_t>(iteration);
    if (executions_.size() == index) {
      coll::Execution::Options options{.values = values_.get(), .trace = nullptr, .rank_done = {}};
      options.rank_done = [this, iteration](int r, sim::Time t) { rank_done(iteration, r, t); };
      executions_.push_back(std::make_unique<coll::Execution>(machine_, program_, gpus_, std::move(options)));
    }
    executions_[index]->enqueue(rank, at);
  }
  void rank_done(int iteration, int rank, sim::Time at) {
    end_ = sim::max(end_, at);
    if (iteration + 1 == job_.iterations) {
      ++finished_ranks_;
      return;
    }
    // The host may still be busy enqueueing it.
    enqueue(iteration + 1, rank, sim::max(at, job_.system->machine.gpu.host_enqueue * (iteration + 1)));
  }

  const CollectiveJob& job_;
  gpu::Machine& machine_;
  const coll::Program& program_;
  std::vector<int> gpus_;
  std::unique_ptr<coll::Values> values_;
  std::vector<std::unique_ptr<coll::Execution>> executions_;
  int finished_ranks_ = 0;
  sim::Time end_;
};

/// GB/s of data that the links of a GPU carry one way, headers counted. Every rank must send, on the mean,
/// what busbw counts, whatever the algorithm.
double payload_bound(const gpu::Machine& machine) {
  int links = 0;
  for (int g = 0; g < machine.gpus(); ++g)
    links = std::max(links, machine.network().lanes(static_cast<net::NodeId>(g)));
  const net::FabricSpec& fabric = machine.spec().fabric;
  const auto payload = static_cast<double>(fabric.packet.payload.count());
  const auto whole = static_cast<double>((fabric.packet.payload + fabric.packet.header).count());
  return links * fabric.link.rate.in_gbps() * payload / whole;
}

CollectiveResult read_counters(const CollectiveJob& job, const Bench& bench, const gpu::Machine& machine,
                               const coll::Program& program) {
  CollectiveResult r;
  // Back to back, a collective takes as long as its kernel or as its enqueueing, whichever is longer.
  r.time = sim::max(bench.end() / job.iterations, job.system->machine.gpu.host_enqueue);
  if (r.time > sim::Time{}) r.algbw_gbps = static_cast<double>(job.bytes.count()) / r.time.in_s() * 1e-9;
  r.busbw_gbps = r.algbw_gbps * coll::bus_factor(job.collective, job.gpus);
  r.bound_gbps = payload_bound(machine);
  INFOLD_CHECK(r.busbw_gbps <= r.bound_gbps * 1.000001 || job.gpus == 1,
               "no collective is faster than the links of its GPUs");
  if (bench.checked()) r.wrong = bench.wrong();
  const auto share = static_cast<std::uint64_t>(job.gpus) * static_cast<std::uint64_t>(job.iterations);
  r.link_bytes_per_gpu = bench.data_sent() / share;
  std::uint64_t wire = 0;
  for (const auto& link : machine.network().links()) {
    if (machine.blueprint().is_gpu(link->from())) wire += link->wire_bytes;
  }
  r.wire_bytes_per_gpu = wire / share;
  std::uint64_t memory = 0;
  for (int g = 0; g < machine.gpus(); ++g) {
    memory += machine.gpu(g).memory().read_bytes + machine.gpu(g).memory().written_bytes;
  }
  r.hbm_bytes_per_gpu = memory / share;
  r.sms = program.channels;
  r.packet_hops = machine.network().packet_hops();
  return r;
}

}  // namespace

std::optional<std::string> refuse(const CollectiveJob& job) {
  const auto& spec = job.system->machine;
  if (!job.algorithm->offers(job.collective)) {
    return fmt::format("{} does not offer {}: it offers {}; {} is offered by {}", job.algorithm->name,
                       sim::name_of(job.collective), coll::offered_by(*job.algorithm),
                       sim::name_of(job.collective), coll::who_offers(job.collective));
  }
  if (job.root >= job.gpus) {
    return fmt::format("there is no rank {} to be the root of {} GPUs", job.root, job.gpus);
  }
  const coll::BufferSizes sizes = coll::buffer_sizes(job.collective, job.bytes, job.gpus);
  const sim::Bytes buffers = sizes.input + sizes.output + job.system->coll.buffer * job.system->coll.channels;
  const auto gib = [](sim::Bytes b) { return static_cast<double>(b.count()) / (1 << 30); };
  if (buffers > spec.gpu.hbm.capacity) {
    return fmt::format(
        "{} of {} bytes needs {:.2f} GiB of buffers on each GPU, and its memory has {:.2f} GiB",
        sim::name_of(job.collective), job.bytes.count(), gib(buffers), gib(spec.gpu.hbm.capacity));
  }
  if (job.check) {
    const sim::Bytes need{coll::Values::memory_need(job.collective, job.bytes, job.gpus)};
    if (need.count() > kValuesLimit) {
      return fmt::format(
          "checking the values of {} bytes on {} GPUs needs up to {:.1f} GiB of memory, more than the limit "
          "of {} GiB",
          job.bytes.count(), job.gpus, gib(need), kValuesLimit >> 30);
    }
  }
  return std::nullopt;
}

CollectiveOutcome run(const CollectiveJob& job, const KeepGoing& keep_going) {
  if (auto why = refuse(job)) return JobRefused{std::move(*why)};
  std::vector<int> gpus(static_cast<std::size_t>(job.gpus));
  std::iota(gpus.begin(), gpus.end(), 0);

  const auto blueprint =
      std::get<net::Blueprint>(net::draw(job.system->machine.fabric, job.system->machine.gpus));
  const coll::Program program = coll::compile(*job.algorithm, {.collective = job.collective,
                                                               .bytes = job.bytes,
                                                               .gpus = gpus,
                                                               .fabric = &blueprint,
                                                               .tuning = job.system->coll,
                                                               .root = job.root});
  const int hops = net::Routes(blueprint).diameter();
  const sim::Bytes burst = choose_burst(job, program, hops);
  gpu::Machine machine(job.system->machine, {.burst = burst, .functional = job.check});
  Bench bench(job, machine, program, gpus);
  if (!bench.run(keep_going)) return Interrupted{};
  if (!bench.done()) return Deadlock{bench.who_waits()};
  INFOLD_CHECK(machine.quiet(), "after a collective nothing is in flight and all credits are home");

  CollectiveResult result = read_counters(job, bench, machine, program);
  result.burst = burst;
  result.events = machine.events().handled();
  return result;
}

}  // namespace infold::study
