// How a pipeline is run: which schedule, and its parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/params.h"

namespace infold::train {

enum class ScheduleKind : std::uint8_t { kGpipe, k1f1b, kInterleaved, kZeroBubble };
inline constexpr std::array kScheduleNames = {
    sim::Named{ScheduleKind::kGpipe, "gpipe", "all micro-batches forward, then all backward"},
    sim::Named{ScheduleKind::k1f1b, "1f1b",
               "forward and backward by turns, so that few micro-batches are under way"},
    sim::Named{ScheduleKind::kInterleaved, "interleaved",
               "1f1b with several parts of the model on each stage: a shorter bubble, more sends"},
    sim::Named{ScheduleKind::kZeroBubble, "zero-bubble",
               "1f1b whose gradients of weights are computed later, where a stage would wait (ZB-H1)"},
};
constexpr std::span<const sim::Named<ScheduleKind>> names_of(ScheduleKind) {
  return kScheduleNames;
}

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
