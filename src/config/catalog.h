// Systems, GPUs and models by name or file: from YAML to a validated spec. A file may build on another
// (`base:`), and then holds only what differs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/yaml/position.h"
#include "gpu/gpu_spec.h"
#include "sim/params.h"
#include "study/system_spec.h"
#include "train/model.h"

namespace infold::config {

/// Checks whether a system can be built as a whole (fabric, memory); an empty function accepts all.
using Validate = std::function<sim::Status(const study::SystemSpec&)>;

struct PresetInfo {
  std::string name;
  std::string summary;
};

std::vector<PresetInfo> list_systems();
std::vector<PresetInfo> list_gpus();
std::vector<PresetInfo> list_models();

/// By preset name, or by file (is_file_reference).
sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, const Validate& validate);
/// The same with the parameters of `--set` changed (config/yaml/overrides.h). The outcome is validated
/// instead of the file by itself; the file is validated only if it may be to blame for an error.
sim::Result<study::SystemSpec> load_system(std::string_view name_or_file, std::span<const std::string> sets,
                                           const Validate& validate);
sim::Result<gpu::GpuSpec> load_gpu(std::string_view name_or_file);
sim::Result<train::Model> load_model(std::string_view name_or_file);

using AnySpec = std::variant<study::SystemSpec, gpu::GpuSpec, train::Model>;

/// A file of any kind, as its `kind:` says; also takes the name of any preset.
sim::Result<AnySpec> load_any(std::string_view name_or_file, const Validate& validate);

/// The files that loading reads: the file itself, if it is one, and those it builds on as far as they can be
/// read.
std::vector<std::string> files_behind(std::string_view name_or_file);

}  // namespace infold::config
