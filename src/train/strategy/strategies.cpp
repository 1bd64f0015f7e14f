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
    case SyncKind::kZero1:
    case SyncKind::kZero2:
      return write_zero(request);
    case SyncKind::kFsdp:
    case SyncKind::kHsdp:
      return write_fsdp(request);
  }
  INFOLD_CHECK(false, "every kind of strategy has its writer");
  return {};
}

work::Graph write_alone(const Plan& plan) {
  StepWriter w(plan, Layout{});
  for (int op = 0; op < static_cast<int>(plan.ops.size()); ++op) w.put(op);
  work::Graph graph = work::without_communication(std::move(w).graph());
  graph.scripts.front().idle.clear();  // it is compared with nothing, so memory need not be the same
  return graph;
}

std::vector<sim::Bytes> gradient_sizes(const Plan& plan) {
  std::vector<sim::Bytes> sizes;
  for (const std::int64_t n : plan.parameter_elements) sizes.emplace_back(n * plan.recipe.gradient_bytes());
  return sizes;
}

}  // namespace infold::train
