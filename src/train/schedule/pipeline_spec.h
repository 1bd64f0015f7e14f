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

  template <class V>
  void visit(V& v) {
    v.field("schedule", schedule, "in which order a stage works on its micro-batches");
    v.field("micro_batches", micro_batches, sim::between(1, 65536), "micro-batches per step");
    v.field("virtual_stages", virtual_stages, sim::between(1, 64),
            "interleaved: parts of the model on each stage");
  }
};

}  // namespace infold::train
