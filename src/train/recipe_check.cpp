// The choices that do not go together.
#include "train/recipe_check.h"

#include <fmt/format.h>

#include "gpu/gpu_check.h"

namespace infold::train {

sim::Status check_recipe(const gpu::GpuSpec& gpu, const Graph& graph, const Recipe& recipe) {
  if (recipe.eight_bit()) {
    if (auto offered = gpu::check_precision(gpu, gpu::Precision::kFp8); !offered) return offered;
  }
  if (recipe.recompute != Recompute::kNone && graph.repetitions == 0) {
    return sim::fail(
        fmt::format("--recompute {}: it has no 'repeat', whose repetitions could keep their input only; take "
                    "--recompute none",
                    sim::name_of(recipe.recompute)));
  }
  return {};
}

}  // namespace infold::train
