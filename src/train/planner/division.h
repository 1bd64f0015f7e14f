// How a model lies on the ranks that share it: which part of each value and each parameter a rank has. Layers
// are divided as Megatron-LM divides them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/result.h"
#include "train/graph.h"
#include "train/layout.h"
#include "train/recipe.h"
#include "train/split.h"

namespace infold::train {

/// Which part of a matrix a tensor-parallel rank has. Of a weight, columns are features of its output and
/// rows are features of its input, as in the papers; in memory a weight lies the other way round.
enum class Part : std::uint8_t { kWhole, kRows, kColumns };

struct Division {
  Split split;
  std::vector<Part> values;           ///< by value
  std::vector<Part> linears;          ///< by operation: of a linear layer's weight
  std::vector<Parameter> parameters;  ///< with the sizes that one rank has
  std::vector<bool> divided;          ///< by parameter: tensor-parallel ranks divide it
  std::vector<bool> summed;           ///< by parameter: each of these ranks has a part of its gradient's sum
  std::vector<Axis> axes;             ///< by parameter: the ranks that hold the same part of it
  /// By value: the operations for which each tensor-parallel rank has a part of the sum that is its gradient.
  std::vector<int> partial_uses;
};

/// The division in which one rank has everything.
Division undivided(const Graph& graph);

/// Refuses what cannot be divided so, and says why.
sim::Result<Division> divide(const Graph& graph, const Recipe& recipe, const Split& split);

}  // namespace infold::train
