// Systems and models by preset, by a file of ours, or by a foreign file that says the same: what commands
// load.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "coll/program/fit.h"
#include "config/catalog.h"
#include "formats/recognise.h"
#include "sim/result.h"
#include "study/system_spec.h"
#include "train/model.h"

namespace infold::formats {

/// The format of a file, or kOurs for the name of a preset and for a file that cannot be read, of which the
/// readers of ours say why.
Format format_of(std::string_view name_or_file);

/// As config::load_system with `--set`, and topology files of NCCL and RCCL.
sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, std::span<const std::string> sets,
                                           const config::Validate& validate);
/// As config::load_model, and config.json files of Hugging Face.
sim::Result<train::Model> load_model(std::string_view name_or_file);

/// As config::load_program, and XML of MSCCL. The program is called by its file's name.
sim::Result<coll::OwnProgram> load_program(const std::string& file);

struct FileText;
/// The name of a model whose file does not give one: "config" says nothing, so the folder's name is taken
/// then.
std::string model_stem(const FileText& text);

}  // namespace infold::formats
