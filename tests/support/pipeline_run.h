// Runs a pipeline's graph on a machine, with NCCL's sends between stages and rings among replicas.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "coll/algo/algorithms.h"
#include "coll/tune/engine_tuning.h"
#include "gpu/machine.h"
#include "train/strategy/pipeline.h"
#include "work/check.h"
#include "work/runtime.h"

namespace infold::help {

class PipelineRun {
 public:
  PipelineRun(const gpu::MachinePlan& plan, const coll::Tuning& tuning, train::PipelineStep step,
              sim::Bytes burst = {})
      : step_(std::move(step)), machine_(plan, {.burst = burst}) {
    const sim::Status checked = work::check(step_.graph);
    EXPECT_TRUE(checked) << checked.error().message;
    const auto programs = [this, &plan, &tuning](const work::Operation& op, sim::Bytes bytes,
                                                 const std::vector<int>& members) -> const coll::Program& {
      const auto* transfer = std::get_if<work::Transfer>(&op.what);
      coll::Request request{
          .collective = transfer == nullptr ? coll::Collective::kAllReduce : coll::Collective::kSend,
          .bytes = bytes,
          .gpus = members,
          .fabric = &plan.blueprint(),
          .tuning = coll::tuning_for(tuning, coll::Protocol::kSimple, coll::Engine::kSm, plan.spec().gpu),
          .root = transfer == nullptr ? 0 : transfer->from};
      programs_.push_back(coll::compile_on(*coll::find_algorithm(transfer == nullptr ? "ring" : "p2p"),
                                           request, plan.spec().gpu));
      return programs_.back();
    };
    runtime_.emplace(step_.graph, machine_, work::RuntimeOptions{.programs = programs});
    runtime_->start();
    machine_.events().run();
    EXPECT_TRUE(runtime_->done());
    for (const std::string& line : runtime_->who_waits()) ADD_FAILURE() << line;
    EXPECT_TRUE(machine_.quiet());
  }

  const train::PipelineStep& step() const { return step_; }
  gpu::Machine& machine() { return machine_; }
  const work::Runtime& runtime() const { return *runtime_; }
  /// A rank of a stage.
  int rank_of(int stage) const {
    return static_cast<int>(std::ranges::find(step_.graph.script_of, stage) - step_.graph.script_of.begin());
  }
  /// From the first pass to the end of the last one.
  sim::Time passes() const {
    sim::Time end;
    for (const train::PassOps& p : step_.passes)
      end = sim::max(end, runtime_->times(rank_of(p.stage), p.last).end);
    return end;
  }
  /// The time in which a stage's passes are under way.
  sim::Time busy(int stage) const {
    sim::Time sum;
    for (const train::PassOps& p : step_.passes) {
      if (p.stage != stage) continue;
      sum += runtime_->times(rank_of(stage), p.last).end - runtime_->times(rank_of(stage), p.first).start;
    }
    return sum;
  }

 private:
  train::PipelineStep step_;
  gpu::Machine machine_;
  std::deque<coll::Program> programs_;
  std::optional<work::Runtime> runtime_;
};

}  // namespace infold::help
