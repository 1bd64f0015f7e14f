// Threads that take one job after the other.
#include "study/step/many_steps.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

namespace infold::study {

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t most = std::min(count, threads > 0 ? static_cast<std::size_t>(threads) : cores);
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t t = 1; t < most; ++t) helpers.emplace_back(take_turns);
  take_turns();
}

std::vector<sim::Result<StepResult>> run_all(std::span<const StepJob> jobs, int threads,
                                             const KeepGoing& keep_going) {
  std::vector<sim::Result<StepResult>> outcomes(jobs.size(), sim::interrupted());
  std::vector<double> shares(jobs.size());
  std::mutex asking;
  const auto ask = [&](std::size_t i, double share) {
    if (!keep_going) return true;
    const std::lock_guard lock(asking);
    shares[i] = std::max(shares[i], share);
    return keep_going(std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(jobs.size()));
  };
  in_parallel(jobs.size(), threads, [&](std::size_t i) {
    if (!ask(i, 0)) return;
    outcomes[i] = run(jobs[i], [&](double share) { return ask(i, share); });
    ask(i, 1);
  });
  return outcomes;
}

}  // namespace infold::study
