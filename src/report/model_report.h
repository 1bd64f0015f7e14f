// What `infold describe model` says: layers, shapes, parameters, operations, memory.
#pragma once

#include <string>

#include "train/graph.h"
#include "train/memory_need.h"
#include "train/model.h"

namespace infold::report {

/// The memory that a step of an example needs.
struct ModelMemory {
  int batch = 0;
  std::string dtype;
  std::string optimizer;
  train::MemoryNeed need;
};

std::string model_text(const train::Model& model, const train::Graph& graph, const ModelMemory& memory);
std::string model_json(const train::Model& model, const train::Graph& graph, const ModelMemory& memory);

}  // namespace infold::report
