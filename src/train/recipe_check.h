// Whether a model can be trained as asked on a GPU, before anything is simulated.
#pragma once

#include "gpu/gpu_spec.h"
#include "sim/result.h"
#include "train/graph.h"
#include "train/recipe.h"

namespace infold::train {

/// Refuses numbers that the GPU cannot compute with, and recomputation of a model that repeats nothing.
sim::Status check_recipe(const gpu::GpuSpec& gpu, const Graph& graph, const Recipe& recipe);

}  // namespace infold::train
