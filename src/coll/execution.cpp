// Wiring of connections and runners, start and end of a rank's kernel.
#include "coll/execution.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "coll/chunking.h"
#include "sim/check.h"
#include "sim/random.h"

namespace infold::coll {

Execution::Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options)
    : machine_(machine),
      program_(program),
      gpus_(std::move(gpus)),
      options_(std::move(options)),
      workgroups_(static_cast<std::size_t>(program.ranks)),
      running_(static_cast<std::size_t>(program.ranks), program.channels),
      started_(static_cast<std::size_t>(program.ranks)),
      ended_(static_cast<std::size_t>(program.ranks)),
      finished_(static_cast<std::size_t>(program.ranks)) {
  context_ = {.tuning = program.tuning,
              .gpus = gpus_,
              .connections = &connections_,
              .values = options_.values,
              .events = &machine.events(),
              .trace = options_.trace};
  std::map<std::tuple<int, int, int>, std::uint32_t> known;  // (from, to, channel)
  const auto connection = [&](int from, int to, int channel) {
    const auto [place, added] = known.try_emplace({from, to, channel}, 0);
    if (added) place->second = connect(from, to);
    return place->second;
  };
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      const auto& steps = program.steps(rank, channel);
      Runner::Setup setup{.rank = rank, .channel = channel, .steps = &steps, .first = {}, .connections = {}};
      for (const Step& s : steps) {
        setup.first.push_back(static_cast<std::uint32_t>(setup.connections.size()));
        for (int from : s.from) setup.connections.push_back(connection(from, rank, channel));
        for (int to : s.to) setup.connections.push_back(connection(rank, to, channel));
      }
      if (options_.trace != nullptr) {
        setup.trace_track = options_.trace->add_track(fmt::format("rank {} channel {}", rank, channel));
      }
      runners_.push_back(std::make_unique<Runner>(std::move(setup), context_, *this));
    }
  }
  // The flags of a connection are watched by the runner at each of its ends.
  for (const auto& [ends, index] : known) {
    const auto& [from, to, on] = ends;
    const auto runner = [&, channel = on](int rank) -> Runner& {
      return *runners_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(program.channels) +
                       static_cast<std::size_t>(channel)];
    };
    connections_[index].receiver = &runner(to);
    connections_[index].tail_flag = machine.signals().add(runner(to), Runner::tail_arg(index));
    connections_[index].head_flag = machine.signals().add(runner(from), Runner::head_arg(index));
  }
}

std::uint32_t Execution::connect(int from, int to) {
  Connection c;
  c.from = from;
  c.to = to;
  const auto index = static_cast<std::uint32_t>(connections_.size());
  const gpu::Encoding encoding = encoding_of(program_.tuning.protocol);
  // Buffers are allocated one by one, so at which link one begins is up to chance. (Side by side they would
  // all begin at the same few, as their size is often a multiple of all links' blocks.)
  const auto size =
      static_cast<std::uint64_t>(round_up(encoding.wire(program_.tuning.buffer).count(), kVector));
  const auto block = static_cast<std::uint64_t>(machine_.spec().fabric.interleave_block.count());
  c.address = index * size + sim::mix(index) % 1024 * block;
  const auto slots = static_cast<std::size_t>(buffer_slots(program_.tuning));
  c.complete.resize(slots);
  if (encoding.flags_inside) c.landed.resize(slots);
  if (options_.values != nullptr) c.values.resize(slots);
  connections_.push_back(std::move(c));
  return index;
}

void Execution::enqueue(int rank, sim::Time at) {
  machine_.events().schedule(at + machine_.spec().gpu.launch, sim::Priority::kWork, *this,
                             static_cast<std::uint32_t>(rank));
}

/// The rank's kernel starts: each of its workgroups takes an SM and runs its channel.
void Execution::handle(std::uint32_t rank) {
  gpu::Gpu& gpu = machine_.gpu(gpus_[rank]);
  const sim::Bytes window = program_.tuning.in_flight_per_thread * program_.tuning.threads;
  started_[rank] = machine_.events().now();
  auto& mine = workgroups_[rank];
  for (int c = 0; c < program_.channels; ++c)
    mine.push_back(&gpu.take_workgroup(window, machine_.options().burst));
  for (int c = 0; c < program_.channels; ++c) {
    const auto index = static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
                       static_cast<std::size_t>(c);
    runners_[index]->start(gpu, *mine[static_cast<std::size_t>(c)]);
  }
}

void Execution::runner_done(Runner& runner) {
  const auto rank = static_cast<std::size_t>(runner.rank());
  // The kernel ends, and its SMs are free, when its last workgroup is done.
  const sim::Time now = machine_.events().now();
  ended_[rank] += now;
  residency_.waiting += runner.waited();
  if (--running_[rank] > 0) return;
  residency_.resident += (now - started_[rank]) * program_.channels;
  residency_.waiting += now * program_.channels - ended_[rank];
  for (gpu::Mover* w : workgroups_[rank]) machine_.gpu(gpus_[rank]).release_workgroup(*w);
  finished_[rank] = now;
  ++ranks_done_;
  if (options_.rank_done) options_.rank_done(runner.rank(), finished_[rank]);
}

std::vector<std::string> Execution::who_waits() const {
  std::vector<std::string> out;
  for (const auto& r : runners_) {
    if (auto why = r->why_waiting(); !why.empty()) out.push_back(std::move(why));
  }
  return out;
}

}  // namespace infold::coll
