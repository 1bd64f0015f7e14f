// How much memory a stage of a pipeline needs.
#pragma once

#include <cstdint>
#include <vector>

#include "train/memory_need.h"
#include "train/plan.h"
#include "train/schedule/schedule.h"

namespace infold::train {

/// `chunks` are the plans of the stage's parts of the model, and `passes` is its row of the schedule.
/// Activations of each micro-batch live from forward to backward; `passing` is their sum when it is largest.
/// What is sent is counted until it has certainly arrived: activations until their gradient comes back, and
/// one gradient that is still under way. With `ahead`, messages are received one pass before they are used.
MemoryNeed stage_memory(const std::vector<Plan>& chunks, const std::vector<Pass>& passes, bool ahead = false);
/// By pass: the bytes of activations of all micro-batches while each of its ops (train/pass_ops.h) runs.
std::vector<std::vector<std::int64_t>> stage_bytes(const std::vector<Plan>& chunks,
                                                   const std::vector<Pass>& passes, bool ahead = false);

}  // namespace infold::train
