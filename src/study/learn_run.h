// A small network that is trained over the ranks of a simulated machine, which sums every gradient, and the
// same training in one process for comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/result.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"

namespace infold::study {

struct LearnJob {
  SystemPtr system;
  int gpus = 0;
  Method method;
  std::optional<coll::Protocol> protocol;       ///< nothing means that it is chosen by size
  coll::DataType type = coll::DataType::kFp32;  ///< type in which gradients travel; not an integer type
  std::vector<int> hidden = {16, 16};           ///< neurons of each hidden layer
  int batch = 16;                               ///< samples per rank and step
  int steps = 200;
  float rate = 0.2F;  ///< learning rate for the mean gradient
  std::uint64_t seed = 1;
};

/// The same training in one process that adds the gradients of the ranks in the order of ranks.
struct LearnReference {
  std::vector<float> loss;  ///< before each step, mean over its samples
  double accuracy = 0;      ///< over all data, after the last step
};

struct LearnResult {
  std::vector<int> layers;
  std::size_t parameters = 0;
  const coll::Algorithm* algorithm = nullptr;  ///< the algorithm that was used
  coll::Protocol protocol = coll::Protocol::kSimple;
  coll::Engine engine = coll::Engine::kSm;
  std::vector<float> loss;  ///< as the ranks saw it
  double accuracy = 0;
  sim::Time all_reduce;     ///< mean time
  std::uint64_t wrong = 0;  ///< sums, over all steps and ranks, that rounding does not explain
  std::uint64_t different_weights =
      0;                          ///< weights, over all ranks, that differ from the reference at the end
  double largest_difference = 0;  ///< largest difference of any weight of any rank from the reference
  double ranks_apart = 0;         ///< the largest difference of a weight between ranks
  LearnReference reference;
};

sim::Result<LearnResult> run(const LearnJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
