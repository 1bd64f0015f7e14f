// Horovod. In every cycle a thread checks which gradients are ready on all GPUs and fuses them, in the order
// in which they came, up to the size of the fusion buffer. Which come together is known only as the step
// runs, so the graph has one gathering of all gradients.
#include "train/strategy/step_writer.h"

namespace infold::train {

StepGraph write_horovod(const StepRequest& request) {
  const Plan& plan = request.plan;
  const std::vector<sim::Bytes> sizes = gradient_sizes(plan);
  StepWriter w(plan, request.layout);
  work::Gather gather{.communicator = w.replicas(Axis::kReplica),
                      .copies = StepWriter::kCopies,
                      .cycle = request.sync.cycle,
                      .most = request.sync.fusion,
                      .after_all = !request.overlap};
  std::vector<std::optional<work::OpId>> marked(plan.ready.size() + 1);
  std::vector<int> gradients;
  for (std::size_t i = 0; i < plan.ready.size(); ++i) {
    const int p = plan.ready[i].parameter;
    marked[i + 1] = w.marker();
    gather.parts.push_back({*marked[i + 1], sizes[static_cast<std::size_t>(p)], p});
    gradients.push_back(p);
  }
  StepGraph step;
  step.backward_ended = w.run_passes(std::vector<std::optional<work::OpId>>(sizes.size()), marked);
  w.update_after({w.graph().add(w.host(), {.what = std::move(gather), .gradients = std::move(gradients)})});
  step.graph = std::move(w).graph();
  return step;
}

}  // namespace infold::train
