// The table of strategies.
#include "train/strategy/strategies.h"

#include "sim/check.h"
#include "train/strategy/step_writer.h"

namespace infold::train {

StepGraph write_step(const StepRequest& request) {
  switch (request.sync.kind) {
    case SyncKind::kDdp:
      return write_ddp(request);
    case SyncKind::kHorovod:
      return write_horovod(request);
    case SyncKind::kTensorflow:
      return write_tensorflow(request);
    case SyncKind::kPerTensor:
      return write_per_tensor(request);
  }
  INFOLD_CHECK(false, "every kind of strategy has its writer");
  return {};
}

work::Graph write_alone(const Plan& plan) {
  StepWriter w(plan, 1);
  for (int op = 0; op < static_cast<int>(plan.ops.size()); ++op) w.compute().ops.push_back(op);
  return std::move(w).graph();
}

std::vector<sim::Bytes> gradient_sizes(const Plan& plan) {
  std::vector<sim::Bytes> sizes;
  for (const std::int64_t n : plan.parameter_elements) sizes.emplace_back(n * plan.recipe.gradient_bytes());
  return sizes;
}

}  // namespace infold::train
