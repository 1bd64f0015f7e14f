// The config.json of a Hugging Face model (transformers) to a model of ours.
#pragma once

#include <string>
#include <string_view>

#include "formats/notes.h"
#include "sim/result.h"
#include "train/model.h"

namespace infold::formats {

struct ModelImport {
  train::Model model;
  Notes notes;
};

/// `stem`: the model's name where the file does not give one. Refuses kinds of models that it does not know,
/// what a kind needs and the file lacks, and what would change the layers and is not known here. The model
/// has a graph.
sim::Result<ModelImport> read_hugging_face(std::string_view text, const std::string& file,
                                           const std::string& stem);

}  // namespace infold::formats
