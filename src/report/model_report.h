// What `infold describe model` says: layers, shapes, parameters, operations, memory.
#pragma once

#include <string>

#include "train/graph.h"
#include "train/model.h"

namespace infold::report {

std::string model_text(const train::Model& model, const train::Graph& graph);
std::string model_json(const train::Model& model, const train::Graph& graph);

}  // namespace infold::report
