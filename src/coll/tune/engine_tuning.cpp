// Chooses channels, slices and buffers by engine.
#include "coll/tune/engine_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "coll/program/chunking.h"

namespace infold::coll {

namespace {

constexpr int kWarp = 32;                 // threads
constexpr int kThreads = 32;              // a state machine has no threads, but sizes are counted in them
constexpr std::int64_t kFewestSlots = 2;  // with fewer, a rank that sends could wait for another that sends
constexpr std::int64_t kMostSlots = 64;

/// How many messages fit the buffer of each connection, where a number of them share the memory.
std::int64_t slots_of(const gpu::AceSpec& ace, int channels, int connections) {
  const sim::Bytes buffers = ace.sram - ace.read_ahead * channels;
  return buffers.count() / (ace.message * std::max(connections, 1)).count();
}

/// A chunk takes half of a buffer at most, so that the next can come in while it goes out.
void cut(Tuning& t, const gpu::AceSpec& ace, std::int64_t slots) {
  t.buffer_steps = static_cast<int>(std::clamp(slots, kFewestSlots, kMostSlots));
  t.buffer = ace.message * t.buffer_steps;
  const std::int64_t chunk = std::max<std::int64_t>(ace.chunk.count() / ace.message.count(), 1);
  t.slices_per_chunk = static_cast<int>(std::clamp<std::int64_t>(t.buffer_steps / 2, 1, chunk));
}

Tuning accelerator_tuning(Tuning t, const gpu::AceSpec& ace) {
  t.channels = ace.machines;
  t.threads = kThreads;
  t.in_flight_per_thread = ace.read_ahead / kThreads;
  t.min_bytes_per_thread = ace.message / kThreads;
  t.slice_steps = 1;
  cut(t, ace, slots_of(ace, t.channels, t.channels));
  return t;
}

}  // namespace

Tuning tuning_for(const Tuning& settings, Protocol protocol, Engine engine, const gpu::GpuSpec& gpu) {
  if (engine == Engine::kAce) return accelerator_tuning(settings, gpu.ace);
  Tuning t = for_protocol(settings, protocol);
  if (engine == Engine::kDma) t.channels = gpu.copy.engines;
  return t;
}

int connections_into_a_rank(const Program& program, const sim::GoOn& go_on) {
  int most = 0;
  for (int rank = 0; rank < program.ranks && !sim::asked_to_stop(go_on); ++rank) {
    std::size_t sum = 0;
    for (int channel = 0; channel < program.channels; ++channel) {
      std::set<int> senders;
      for (const Step& s : program.steps(rank, channel)) senders.insert(s.from.begin(), s.from.end());
      sum += senders.size();
    }
    most = std::max(most, static_cast<int>(sum));
  }
  return most;
}

Program compile_on(const Algorithm& algorithm, Request request, const gpu::GpuSpec& gpu) {
  Program program = compile(algorithm, request);
  if (request.engine != Engine::kAce) return program;
  while (!check_engine(program, gpu)) {
    Tuning& t = request.tuning;
    const int before = t.buffer_steps;
    const int connections = connections_into_a_rank(program);
    const bool fits = slots_of(gpu.ace, program.channels, connections) >= kFewestSlots;
    t.channels = fits ? program.channels : program.channels / 2;
    if (t.channels == 0) break;
    cut(t, gpu.ace, slots_of(gpu.ace, t.channels, connections * t.channels / program.channels));
    // Fewer channels do not help an algorithm that sizes its buffers itself.
    if (t.channels == program.channels && t.buffer_steps == before) break;
    program = compile(algorithm, request);
  }
  return program;
}

sim::Status check_protocol(Engine engine, Protocol protocol) {
  if (engine == Engine::kSm || protocol == Protocol::kSimple) return {};
  return sim::fail(fmt::format(
      "engine {} has no threads that poll for flags inside data: it needs protocol simple, not {}",
      sim::name_of(engine), sim::name_of(protocol)));
}

namespace {
/// A workgroup has its SM to itself, and its threads must be able to be resident there.
sim::Status check_threads(const Program& program, const gpu::SmSpec& sm) {
  if (program.engine != Engine::kSm) return {};
  const bool in_network = program.in_network();
  const Tuning& t = program.tuning;
  const int threads = in_network ? t.nvls.warps() * kWarp : t.threads;
  if (threads <= sm.threads) return {};
  const std::string own = in_network ? "coll.nvls.scatter_warps, reduce_warps, gather_warps"
                          : t.protocol == Protocol::kSimple
                              ? "coll.threads"
                              : fmt::format("coll.{}.threads", sim::name_of(t.protocol));
  return sim::fail(
      fmt::format("gpu.sm.threads: a communication workgroup of {} threads ({}) does not fit an SM of {}",
                  threads, own, sm.threads));
}
}  // namespace

sim::Status check_engine(const Program& program, const gpu::GpuSpec& gpu) {
  if (auto ok = check_protocol(program.engine, program.tuning.protocol); !ok) return ok;
  if (auto ok = check_threads(program, gpu.sm); !ok) return ok;
  if (program.engine != Engine::kAce) return {};
  const std::int64_t connections = connections_into_a_rank(program);
  const sim::Bytes need = program.tuning.buffer * connections + gpu.ace.read_ahead * program.channels;
  if (need <= gpu.ace.sram) return {};
  return sim::fail(fmt::format(
      "the accelerator's memory of {} bytes does not hold the {} that {} connections and {} state machines "
      "need (see gpu.ace.sram, gpu.ace.message)",
      gpu.ace.sram.count(), need.count(), connections, program.channels));
}

}  // namespace infold::coll
