// How a pipeline is run: which schedule, and its parameters.
#pragma once

#include <string_view>

#include "sim/params.h"
#include "train/names.h"

namespace infold::train {

struct PipelineSpec {
  static constexpr std::string_view kAbout = "How a pipeline is run.";
  ScheduleKind schedule = ScheduleKind::k1f1b;
  int micro_batches = 1;
  int virtual_stages = 1;

  /// Whether a message is received one pass before it is used, as Megatron-LM's overlap of sends does.
  bool receives_ahead() const { return schedule == ScheduleKind::kInterleaved; }

  template <class V>
  void visit(V& v) {
    v.field("schedule", schedule, "in which order a stage works on its micro-batches");
    v.field("micro_batches", micro_batches, sim::between(1, 65536), "micro-batches per step");
    v.field("virtual_stages", virtual_stages, sim::between(1, 64),
            "interleaved: parts of the model on each stage");
  }
};

}  // namespace infold::train
