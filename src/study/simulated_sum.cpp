// One machine makes all the sums, so that its caches stay as warm as in reality.
#include "study/simulated_sum.h"

#include "sim/check.h"

namespace infold::study {

SimulatedSum::SimulatedSum(const PreparedJob& prepared)
    : program_(prepared.program()),
      machine_(prepared.job().system->plan(),
               {.burst = {}, .functional = true, .in_network = program_.in_network()}),
      gpus_(prepared.groups().front()),
      buffers_(machine_, gpus_, coll::buffers_for(program_)),
      values_(program_.collective, program_.bytes, program_.ranks,
              {.type = prepared.job().type,
               .op = coll::ReduceOp::kSum,
               .real = true,
               .scratch = program_.scratch},
              1) {}

sim::Result<SimulatedSum::Sums> SimulatedSum::add_up(std::span<std::vector<float>> ranks) {
  for (int r = 0; r < program_.ranks; ++r) {
    const std::vector<float>& from = ranks[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < from.size(); ++i)
      coll::store(values_.type(), values_.input(r), i, static_cast<double>(from[i]));
  }
  coll::Execution::Options options;
  options.values = &values_;
  options.buffers = &buffers_;
  execution_ = std::make_unique<coll::Execution>(machine_, program_, gpus_, std::move(options));
  const sim::Time begin = machine_.events().now();
  for (int r = 0; r < program_.ranks; ++r) execution_->enqueue(r, begin);
  machine_.events().run();
  if (!execution_->done()) return sim::deadlock(execution_->who_waits());
  INFOLD_CHECK(machine_.quiet(), "after a collective nothing is in flight and all credits are home");
  Sums sums{.time = {}, .wrong = values_.wrong()};
  for (int r = 0; r < program_.ranks; ++r) {
    sums.time = sim::max(sums.time, execution_->finished(r) - begin);
    std::vector<float>& to = ranks[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(coll::load(values_.type(), values_.output(r), i));
  }
  return sums;
}

}  // namespace infold::study
